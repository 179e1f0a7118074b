"""Links to services: TCP and TLS, HTTP with streams, server-sent events, MQTT, and pauses between tries.

What fails here is a NetError, of which the sentence is whole: callers add only what to do.
"""
