"""The MQTT door for programs: messages, relays, answers and pushes."""
