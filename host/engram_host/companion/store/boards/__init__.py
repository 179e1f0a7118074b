"""What boards tell of themselves: how each is, and its days."""
