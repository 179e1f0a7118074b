"""What boards perceive, as people ask for it."""
