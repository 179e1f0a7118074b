"""Checks the Wi-Fi networks of secrets.json."""

from engram.compat import const
from engram.errors import ConfigError
from engram.text.utf8 import is_printable_ascii

_MOST = const(8)  # networks: each is tried in turn when none is in reach, which takes seconds


def check(networks) -> None:
    """ConfigError if it is no list of networks such as {"ssid": "Home", "password": "..."}; an open one has no password."""
    if not isinstance(networks, list) or len(networks) > _MOST:
        _refuse('must be a list of at most %d networks such as {"ssid": "Home", "password": "..."}.' % _MOST)
    for network in networks:
        if not isinstance(network, dict) or not set(network) <= {"ssid", "password"}:
            _refuse("each network must have ssid and, if it is not open, password, and nothing else.")
        name, password = network.get("ssid"), network.get("password", "")
        if not isinstance(name, str) or not 1 <= len(name.encode()) <= 32:
            _refuse("each network's ssid must be a text of 1 to 32 bytes.")
        if not isinstance(password, str) or (
            password and not (8 <= len(password) <= 63 and is_printable_ascii(password))
        ):
            _refuse("a password must have 8 to 63 ASCII characters; leave it out for an open network.")


def _refuse(problem: str) -> None:
    raise ConfigError("wifi", problem)
