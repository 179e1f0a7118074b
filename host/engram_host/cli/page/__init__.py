"""Commands of a running companion: one opens its page, others show what the page shows, `api` sends any request."""
