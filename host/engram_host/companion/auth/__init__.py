"""Tokens, access checks of HTTP and MQTT, and limits; see docs/guides/security.md."""
