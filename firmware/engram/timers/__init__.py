"""Timers: something is said, called or asked at a moment, every day, or every few minutes."""
