"""The index of a board: columns, postings, vectors and the cache of indexes in use."""
