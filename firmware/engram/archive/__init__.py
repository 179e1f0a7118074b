"""Records kept by the companion."""
