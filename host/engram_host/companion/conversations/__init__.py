"""Conversations with boards: what people say through the companion, and what boards answer."""
