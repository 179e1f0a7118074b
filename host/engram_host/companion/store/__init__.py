"""Where the companion keeps lines and vectors: one narrow interface, and two databases behind it."""
