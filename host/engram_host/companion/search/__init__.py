"""Hybrid search over the lines of one or many boards, by words and by meaning."""
