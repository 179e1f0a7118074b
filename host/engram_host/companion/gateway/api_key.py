"""The API key of the model's service, which leaves this process in one header only."""

import logging
import re
from collections.abc import Mapping
from types import MappingProxyType

from engram_host.companion.auth.secrets import KeyringUnusable, SecretStore
from engram_host.companion.errors import SettingError
from engram_host.companion.gateway.dialects import OPENAI, ModelApi

_log = logging.getLogger("engram.gateway")

NAME = "gateway.key"  # of the secret
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


def find_api_key(secrets: SecretStore) -> ApiKey:
    """Find the key in the environment, its file or the keyring; empty if nowhere. May raise SettingError."""
    try:
        value = secrets.find(NAME) or secrets.find(NAME, in_keyring=True)
    except KeyringUnusable as problem:
        _log.info("%s", problem)
        value = ""
    if value and not _KEY.fullmatch(value):
        raise SettingError(NAME, "has no key for the gateway: it has to be one word of ASCII.")
    return ApiKey(value)
