"""Senses: readings of sensors, kept as aggregates by minute, hour and day."""
