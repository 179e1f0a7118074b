"""The API key of the model's service, which leaves this process in one header only."""

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from engram_host.companion.auth.tokens import read_secret
from engram_host.companion.errors import SettingError
from engram_host.companion.gateway.dialects import OPENAI, ModelApi

_log = logging.getLogger("engram.gateway")

VARIABLE = "ENGRAM_GATEWAY_KEY"
FILE = "gateway.key"
KEYRING = ("engram", "gateway")  # service and user name in the system's keyring
_KEY = re.compile(r"[!-~]{1,4096}")


class ApiKey:
    """An API key that its repr hides; it may be empty."""

    __slots__ = ("_value",)

    def __init__(self, value: str = ""):
        self._value = value

    def __repr__(self) -> str:
        return "ApiKey(set)" if self._value else "ApiKey(none)"

    def __bool__(self) -> bool:
        return bool(self._value)

    def headers(self, api: ModelApi = OPENAI, asked: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        """Return headers with the key; `asked` are the headers of the client's request."""
        return api.key_headers(self._value, asked)


def find_api_key(home: Path, environment: Mapping[str, str]) -> ApiKey:
    """Find the key in the environment, gateway.key or the keyring; empty if nowhere. May raise SettingError."""
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
