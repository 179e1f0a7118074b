"""Copies of a database, and what is left of a damaged one."""
