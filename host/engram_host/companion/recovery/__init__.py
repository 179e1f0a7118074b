"""Backups of the SQLite database, and what takes the place of a damaged one."""
