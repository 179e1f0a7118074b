"""Markdown folders of the host: watched, cut into passages, and found together with what boards remember."""
