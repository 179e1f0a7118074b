"""What is unusual about senses: what is learned as usual, limits that people set, and events, which are reported and kept."""
