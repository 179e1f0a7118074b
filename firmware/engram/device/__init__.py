"""Parts that only a board has: its start, its watchdog, its network and its serial line."""
