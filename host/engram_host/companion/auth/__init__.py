"""Who may do what: tokens, checks of HTTP and MQTT, limits of rates and sizes. What is protected: docs/guides/security.md."""
