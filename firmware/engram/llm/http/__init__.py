"""HTTP for models: client, response, server-sent events."""
