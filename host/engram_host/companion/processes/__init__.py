"""Coordination of companions on one database: leases, notices and settings."""
