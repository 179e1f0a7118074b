"""Where people talk with the agent."""
