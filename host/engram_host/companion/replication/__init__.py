"""Copies of boards' logs: messages of boards, and the answers to them."""
