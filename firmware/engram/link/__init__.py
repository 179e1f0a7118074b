"""The link to a companion: what the board holds is copied there, and a search may ask it. The board is whole without it."""
