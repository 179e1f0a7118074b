"""Channels between people and the agent."""
