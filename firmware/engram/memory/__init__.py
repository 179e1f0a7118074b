"""What is remembered: records, journal, profile, notes; meanings on top of the store."""
