"""Browsing and changing the memories of boards."""
