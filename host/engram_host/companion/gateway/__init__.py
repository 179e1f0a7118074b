"""A way to a model for boards and programs that do not have its key: OpenAI's or Anthropic's API at
/gateway/v1, with a limit for each day."""
