"""Photos and sounds that the companion keeps for boards."""
