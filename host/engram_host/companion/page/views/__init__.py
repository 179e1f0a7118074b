"""The views of the page, a module each: its routes, and what they read."""
