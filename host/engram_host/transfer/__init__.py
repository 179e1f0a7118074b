"""Files of memories, as people and other programs write them, in the form that a board imports."""
