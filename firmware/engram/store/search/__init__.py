"""Ranking in integers, filters, top-k."""
