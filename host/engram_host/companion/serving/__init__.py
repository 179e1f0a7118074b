"""A companion that serves: how it starts, and where it is."""
