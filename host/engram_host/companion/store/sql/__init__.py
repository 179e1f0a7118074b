"""SQL statements, notices, and sessions of PostgreSQL."""
