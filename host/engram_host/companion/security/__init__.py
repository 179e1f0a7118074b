"""Who may do what: tokens, the checks of HTTP and MQTT, limits of rates and sizes. docs/security.md says what is protected."""
