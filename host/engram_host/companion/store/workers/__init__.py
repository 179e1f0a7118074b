"""What several workers on one database agree on by it."""
