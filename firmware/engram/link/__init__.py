"""The link to a companion, which copies the logs and answers searches; the board is complete without it."""
