"""Entries of the companion's copy of a board: current memories and turns, history and export."""
