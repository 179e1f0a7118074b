"""The door for programs at the broker: messages and relays, answers, and what boards begin to say."""
