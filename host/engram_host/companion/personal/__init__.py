"""A person's own view of the boards: only what a board itself would show that person."""
