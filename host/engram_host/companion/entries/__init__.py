"""What the companion's copy of a board says: memories and turns as they are now, their history, and an export of them."""
