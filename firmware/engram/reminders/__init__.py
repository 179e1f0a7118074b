"""Reminders that a message triggers."""
