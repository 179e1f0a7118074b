"""Imports into boards over the link: a preview first, then line by line."""
