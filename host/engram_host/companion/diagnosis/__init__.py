"""What may be wrong with a companion, and what to do."""
