"""The memories of boards as people look through them and change them."""
