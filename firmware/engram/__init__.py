"""Engram: a memory that lasts for agents on microcontrollers."""

__version__ = "0.1.0"
