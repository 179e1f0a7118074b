"""One turn of a conversation: context, tools, session, agent."""
