"""LLM services by name, from the firmware's table."""

import socket
from dataclasses import dataclass
from functools import cache

from engram import tables

_COMPUTER = "COMPUTER"
_ELSEWHERE = ("192.0.2.1", 9)
"""An address of no computer; to find a way to it sends nothing."""


@dataclass(frozen=True)
class LlmService:
    name: str
    api: str
    url: str
    needs_key: bool
    model: str
    """An example of a model's name."""
    note: str

    @property
    def is_own(self) -> bool:
        """True if it runs on a person's own computer."""
        return _COMPUTER in self.url

    def url_at(self, computer: str) -> str:
        return self.url.replace(_COMPUTER, computer)


@cache
def all_services() -> tuple[LlmService, ...]:
    rows = [row.split("|") for row in tables.rows("llm/services")]
    return tuple(LlmService(name, api, url, key == "yes", model, note) for name, api, url, key, model, note in rows)


def own_address() -> str:
    """Return this computer's address in its network, "" if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ELSEWHERE)
        except OSError:
            return ""
        return probe.getsockname()[0]
