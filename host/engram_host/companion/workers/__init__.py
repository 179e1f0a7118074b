"""Workers: several processes of one companion, what only one of them does, and what they know of each other."""
