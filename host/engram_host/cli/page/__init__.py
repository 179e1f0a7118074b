"""The commands beside the page: one that opens it, and one that lists what it shows of boards."""
