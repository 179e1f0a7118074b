"""Profile and notes."""
