"""Status of boards, and daily figures."""
