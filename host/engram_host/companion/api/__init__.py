"""The companion's HTTP API, for people, programs and boards."""
