"""The copy of a board's logs: messages of boards, and the answers to them."""
