"""Timers: texts, tool calls or questions to the agent at a moment, daily, or every few minutes."""
