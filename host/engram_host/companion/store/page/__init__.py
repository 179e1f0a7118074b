"""Sessions of browsers and lists of boards, for the page."""
