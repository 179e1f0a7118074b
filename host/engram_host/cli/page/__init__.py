"""Commands of a running companion: its page, the page's contents, and any API request."""
