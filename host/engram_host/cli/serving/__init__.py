"""`engram serve`, alone and by several workers."""
