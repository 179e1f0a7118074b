"""What `engram doctor` looks at: each check tells what it found, and what to do where that is not as it should be."""
