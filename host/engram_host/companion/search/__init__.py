"""Finds what fits a question among the lines of one or many boards, by its words and by its meaning."""
