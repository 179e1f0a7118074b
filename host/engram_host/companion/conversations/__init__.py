"""Conversations of people with boards."""
