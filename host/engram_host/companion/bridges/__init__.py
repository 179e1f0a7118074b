"""Bridges to IM networks: one file for each network, which knows its library and nothing of boards or memory."""
