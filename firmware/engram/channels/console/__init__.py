"""The serial console."""
