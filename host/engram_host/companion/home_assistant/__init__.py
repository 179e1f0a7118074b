"""Boards' senses in Home Assistant."""
