"""Backups of the SQLite database, and the replacement of a damaged one."""
