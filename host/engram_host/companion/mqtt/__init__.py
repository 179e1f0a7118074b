"""Boards over MQTT: the companion as a client of a broker."""
