"""Append-only logs, keyword indexes and small files on flash."""
