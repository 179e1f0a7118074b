"""Commands that back up and restore a companion."""
