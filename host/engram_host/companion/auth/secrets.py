"""Secrets of the companion in private files or the system's keyring.

A secret has a dotted name, such as bridges.matrix.password. It is read from the environment
(ENGRAM_BRIDGES_MATRIX_PASSWORD), else from its file in the folder `secrets`, or from the keyring if
the settings say so.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from engram_host.companion.auth.tokens import read_private, write_private
from engram_host.companion.errors import SettingError

FOLDER = "secrets"

SERVICE = "engram"

LONGEST_SECRET = 4096
_NAME = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9_-]+)+")


class KeyringUnusable(SettingError):
    """The system has no keyring, or it refuses."""


class SecretStore:
    """Secrets of a companion folder; calls may block. Raises SettingError without the secret."""

    def __init__(self, home: Path, environment: Mapping[str, str] = os.environ):
        self._folder = home / FOLDER
        self._environment = environment

    def find(self, name: str, *, in_keyring: bool = False) -> str:
        if value := self._environment.get(self.variable(name), ""):
            return checked_secret(self.variable(name), value)
        if in_keyring:
            return _keyring_call("get_password", name) or ""
        path = self.path(name)
        if not path.exists():
            return ""
        try:
            return checked_secret(str(path), read_private(path, LONGEST_SECRET * 4).decode().rstrip("\r\n"))
        except UnicodeDecodeError:
            raise SettingError(str(path), "has to be text in UTF-8.") from None

    def may_have(self, name: str, *, in_keyring: bool = False) -> bool:
        """Return False if there is surely no secret, without asking a keyring."""
        return in_keyring or bool(self._environment.get(self.variable(name))) or self.path(name).exists()

    def keep(self, name: str, value: str, *, in_keyring: bool = False) -> None:
        checked_secret(name, value)
        if in_keyring:
            _keyring_call("set_password", name, value)
            return
        path = self.path(name)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(path, f"{value}\n".encode())
        except OSError as error:
            raise SettingError(str(path), f"cannot be written: {error.strerror}.") from None

    def remove(self, name: str, *, in_keyring: bool = False) -> None:
        if in_keyring:
            _keyring_call("delete_password", name)
            return
        try:
            self.path(name).unlink(missing_ok=True)
        except OSError as error:
            raise SettingError(str(self.path(name)), f"cannot be removed: {error.strerror}.") from None

    def path(self, name: str) -> Path:
        assert _NAME.fullmatch(name), name
        return self._folder / name

    def variable(self, name: str) -> str:
        return "ENGRAM_" + re.sub(r"[^A-Z0-9]", "_", name.upper())


def checked_secret(where: str, value: str) -> str:
    """Return a one-line secret. Raise SettingError."""
    if not value or len(value) > LONGEST_SECRET or not value.isprintable():
        raise SettingError(where, f"has to be one line of at most {LONGEST_SECRET} characters: the secret.")
    return value


def _keyring_call(method: str, *words: str) -> str | None:
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        return getattr(keyring, method)(SERVICE, *words)
    except PasswordDeleteError:
        return None
    except KeyringError as error:
        problem = (
            f"cannot be had from the system's keyring ({type(error).__name__}): keep it in a file, without --keyring."
        )
        raise KeyringUnusable(words[0], problem) from None
