"""A running companion: start and addresses."""
