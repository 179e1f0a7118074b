"""Parsers for files of memories by people and other programs, into a board's import form."""
