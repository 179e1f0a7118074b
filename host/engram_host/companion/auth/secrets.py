"""Secrets that commands keep for the companion: in files that only their owner reads, or in the system's keyring.

A secret has a dotted name, such as bridges.matrix.password. It comes from the environment (ENGRAM_BRIDGES_MATRIX_PASSWORD),
else from the file of its name in the folder `secrets`, or, where the settings say so, from the keyring.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from engram_host.companion.auth.tokens import read_private
from engram_host.companion.errors import SettingError

FOLDER = "secrets"
"""Of the companion's folder."""

SERVICE = "engram"
"""The service's name in the keyring; the user's is the secret's."""

LONGEST_SECRET = 4096
_NAME = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9_-]+)+")


class SecretStore:
    """The secrets of the companion in a folder. Calls may block, as a keyring does. SettingError, which shows no secret."""

    def __init__(self, home: Path, environment: Mapping[str, str] = os.environ):
        self._folder = home / FOLDER
        self._environment = environment

    def find(self, name: str, *, in_keyring: bool = False) -> str:
        """A secret, "" if there is none."""
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
        """Whether there may be a secret; no keyring is asked."""
        return in_keyring or bool(self._environment.get(self.variable(name))) or self.path(name).exists()

    def keep(self, name: str, value: str, *, in_keyring: bool = False) -> None:
        """Keep a secret in the place of a former one."""
        checked_secret(name, value)
        if in_keyring:
            _keyring_call("set_password", name, value)
            return
        path = self.path(name)
        draft = path.with_name(f"{path.name}.new")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.unlink(missing_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(value + "\n")
            draft.replace(path)
        except OSError as error:
            raise SettingError(str(path), f"cannot be written: {error.strerror}.") from None

    def remove(self, name: str, *, in_keyring: bool = False) -> None:
        """Remove a secret; no error if there is none."""
        if in_keyring:
            _keyring_call("delete_password", name)
            return
        try:
            self.path(name).unlink(missing_ok=True)
        except OSError as error:
            raise SettingError(str(self.path(name)), f"cannot be removed: {error.strerror}.") from None

    def path(self, name: str) -> Path:
        """The file of a secret."""
        assert _NAME.fullmatch(name), name
        return self._folder / name

    def variable(self, name: str) -> str:
        """The variable of the environment that goes before its file."""
        return "ENGRAM_" + re.sub(r"[^A-Z0-9]", "_", name.upper())


def checked_secret(where: str, value: str) -> str:
    """A secret that is one line; SettingError."""
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
        raise SettingError(words[0], problem) from None
