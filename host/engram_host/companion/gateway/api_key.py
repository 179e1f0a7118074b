"""The key of the model's service, which leaves this process in one header only."""

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

    def headers(self, api: ModelApi = OPENAI, asked: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        """Headers that show it to a service with an API; `asked` are those of the request that is passed on."""
        return api.key_headers(self._value, asked)


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
