"""What the board perceives: readings of sensors, kept as aggregates by minute, hour and day."""
