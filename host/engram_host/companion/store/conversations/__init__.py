"""Messages to boards, and their answers."""
