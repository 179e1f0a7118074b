"""Tokens of devices, as `engram device add` makes them."""

from pathlib import Path

from engram_host.companion.auth import tokens
from engram_host.companion.store import open_store


def make_tokens(home: Path, *devices: str) -> dict[str, str]:
    """Tokens of devices of the companion in a folder."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = open_store(f"sqlite:///{home}/companion.db")
    made = {device: tokens.new_token() for device in devices}
    for device, token in made.items():
        store.tokens.add_token(tokens.stored_token(device, token))
    store.close()
    return made
