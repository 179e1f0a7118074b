"""Markdown folders of the host: watched, split into passages, and searched with boards' memories."""
