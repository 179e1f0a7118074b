"""Long-term memories."""
