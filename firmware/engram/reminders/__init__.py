"""Reminders that a message brings up."""
