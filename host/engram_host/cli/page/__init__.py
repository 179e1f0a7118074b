"""The commands beside the page: one that opens it, and those that show what it shows of boards, days, searches and imports."""
