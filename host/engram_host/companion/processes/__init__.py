"""What several companions on one database agree on: leases, notices, and their settings."""
