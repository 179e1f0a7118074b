"""What may be wrong with a companion, and what to do about it: for `engram doctor`, the page and the API."""
