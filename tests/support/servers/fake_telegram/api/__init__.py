"""The methods of the Bot API, and the check of their arguments."""
