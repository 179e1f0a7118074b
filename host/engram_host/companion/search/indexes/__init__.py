"""The index of a board: its columns, postings and vectors, the file that keeps it, and the cache of those in use."""
