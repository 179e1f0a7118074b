"""Boards over HTTP: how they are."""
