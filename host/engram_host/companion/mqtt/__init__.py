"""Boards over MQTT: the companion's client, and the broker for those who have none of their own."""
