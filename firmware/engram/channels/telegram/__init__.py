"""Telegram, spoken by the board itself over the Bot API: see channel.py. Nothing is loaded without `telegram.token`."""
