"""The log of all turns."""
