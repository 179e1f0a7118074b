"""Commands on bridges to IM networks, on the people who talk through them, and on alerts."""
