"""Commands that save and restore what a companion has."""
