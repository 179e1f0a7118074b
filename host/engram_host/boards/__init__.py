"""A board on a serial port: its image, flash, code and memory."""
