"""`engram serve`."""
