"""A gateway at /gateway/v1 to a model's OpenAI or Anthropic API, without its key and with daily limits."""
