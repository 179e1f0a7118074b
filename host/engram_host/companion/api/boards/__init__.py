"""Boards over HTTP: state, content and changes."""
