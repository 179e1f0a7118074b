"""Senses of boards for Home Assistant."""
