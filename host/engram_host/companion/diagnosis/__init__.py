"""Faults that a companion may have, and their remedies."""
