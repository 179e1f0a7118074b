"""The key of the model's service, which leaves this process in one header only."""

import logging
import re
from collections.abc import Mapping
from pathlib import Path

from engram_host.companion.auth.tokens import read_secret
from engram_host.companion.errors import SettingError

_log = logging.getLogger("engram.gateway")

VARIABLE = "ENGRAM_GATEWAY_KEY"
FILE = "gateway.key"
KEYRING = ("engram", "gateway")
"""Service and user name in the keyring of the system."""

_KEY = re.compile(r"[!-~]{1,4096}")


class ApiKey:
    """A key that shows itself to nobody by mistake; an empty one is none."""

    __slots__ = ("_value",)

    def __init__(self, value: str = ""):
        self._value = value

    def __repr__(self) -> str:
        return "ApiKey(set)" if self._value else "ApiKey(none)"

    def __bool__(self) -> bool:
        return bool(self._value)

    def headers(self) -> dict[str, str]:
        """The header that shows it to the service."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def redactor(self) -> "Redactor":
        """Takes it out of what the service sends."""
        return Redactor(self._value.encode())

    def redact(self, text: str) -> str:
        """A text without it."""
        return text.replace(self._value, "[key]") if self._value else text


class Redactor:
    """Takes a key out of bytes that come in pieces, also where it stands across two. What can be no part of it goes on at
    once.
    """

    def __init__(self, key: bytes):
        self._key = key
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """What can be passed on after this piece."""
        if not self._key:
            return piece
        data = (self._held + piece).replace(self._key, b"[key]")
        kept = next(
            (size for size in range(min(len(self._key) - 1, len(data)), 0, -1) if self._ends_with(data, size)), 0
        )
        self._held = data[len(data) - kept :]
        return data[: len(data) - kept]

    def end(self) -> bytes:
        """What was held back, when nothing more comes."""
        held, self._held = self._held, b""
        return held

    def _ends_with(self, data: bytes, size: int) -> bool:
        return data.endswith(self._key[:size])


def find_api_key(home: Path, environment: Mapping[str, str]) -> ApiKey:
    """The key from the environment, else from gateway.key, else from the keyring; none if it is nowhere. SettingError."""
    value = environment.get(VARIABLE, "").strip()
    path = home / FILE
    if value:
        where = VARIABLE
    elif path.exists():
        where, value = str(path), read_secret(path)
    else:
        where, value = "the keyring", _from_keyring()
    if value and not _KEY.fullmatch(value):
        raise SettingError(where, "has no key for the gateway: it has to be one word of ASCII.")
    return ApiKey(value)


def _from_keyring() -> str:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(*KEYRING) or ""
    except KeyringError as error:
        _log.info("no keyring can be used here: %s", type(error).__name__)
        return ""
