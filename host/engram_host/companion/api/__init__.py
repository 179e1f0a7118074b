"""The companion's HTTP API: what people, programs and boards ask it."""
