"""Statements, and what a server says of itself."""
