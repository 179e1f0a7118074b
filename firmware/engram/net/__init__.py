"""Links to services: TCP and TLS, HTTP with streams, server-sent events, MQTT, and backoff. Each failure is a
NetError with a complete sentence, to which callers only add advice.
"""
