"""Alerts: what a person wants to know while they talk to nobody here, sent to services outside."""
