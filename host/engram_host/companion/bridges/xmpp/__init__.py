"""XMPP."""
