"""Views of the page, a module each with its routes."""
