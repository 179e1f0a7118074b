"""What only a board has: its start, its heart, its network and its serial line."""
