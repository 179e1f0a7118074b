"""The table of photos and sounds."""
