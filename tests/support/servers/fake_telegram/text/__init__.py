"""Texts of messages: entities in UTF-16 units, and the two parse modes that make them."""
