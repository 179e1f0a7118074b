"""A board on a serial port: its image, its flash, its code, its memory."""
