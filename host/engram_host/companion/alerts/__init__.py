"""Alerts sent to services outside."""
