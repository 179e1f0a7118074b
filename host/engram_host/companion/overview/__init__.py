"""Lists of boards with warnings, and figures of one board over days."""
