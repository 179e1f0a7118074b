"""Ways in which people talk with the agent."""
