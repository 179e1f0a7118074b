"""Tables of senses and readings."""
