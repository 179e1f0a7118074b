"""Remote language models."""
