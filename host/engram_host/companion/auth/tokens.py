"""Tokens: a device's is shown once and stored as a digest, the operator's is a private file.
Boards use the same tokens at an own mosquitto (see mosquitto.py).

A token is 32 random bytes, so SHA-256 cannot be reversed by trying and no slow hash is needed.
"""

import base64
import contextlib
import hashlib
import os
import re
import secrets
import stat
import time
from functools import cache
from pathlib import Path

from engram_host.companion.errors import SettingError
from engram_host.companion.types import DeviceToken, OperatorToken

OPERATOR_FILE = "operator.token"

OPERATOR_NAME = "operator"

KEPT_OWNER = (-1, -1)

LOOKS_LIKE_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")

_DRAFT, _DRAFT_BYTES = ".new-", 8
_DRAFT_SECONDS = 3600
"""Age at which a draft was left by a kill, and is nobody's work any more."""

_MOSQUITTO_ROUNDS = 101
"""mosquitto_passwd's default; 32 random bytes need no more."""


def new_token() -> str:
    return secrets.token_urlsafe(32)


def token_digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def stored_token(device: str, token: str) -> DeviceToken:
    return DeviceToken(device, token_digest(token), mosquitto_hash(token), int(time.time()))


def operator_token_entry(name: str, token: str, is_read_only: bool, seconds: int) -> OperatorToken:
    now = int(time.time())
    return OperatorToken(name, token_digest(token), is_read_only, now, now + seconds if seconds else 0)


def mosquitto_hash(token: str) -> str:
    """Return a token as in mosquitto's password file: PBKDF2-SHA512, `$7$rounds$salt$hash`."""
    salt = secrets.token_bytes(12)
    made = hashlib.pbkdf2_hmac("sha512", token.encode(), salt, _MOSQUITTO_ROUNDS)
    return f"$7${_MOSQUITTO_ROUNDS}${base64.b64encode(salt).decode()}${base64.b64encode(made).decode()}"


def operator_token(home: Path) -> str:
    """Return a folder's operator token, creating it if needed. Raise SettingError."""
    path = home / OPERATOR_FILE
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_secret(path)
    except OSError as error:
        raise SettingError(str(path), f"cannot be made: {error.strerror}.") from None
    token = new_token()
    with os.fdopen(handle, "w") as file:
        file.write(token + "\n")
    return token


def read_secret(path: Path) -> str:
    """Return the secret of a private file. Raise SettingError without the secret."""
    try:
        secret = read_private(path).decode("ascii").strip()
    except UnicodeDecodeError:
        raise SettingError(str(path), "has to be one line of ASCII.") from None
    if not secret or any(letter.isspace() for letter in secret):
        raise SettingError(str(path), "has to be one line: the secret.")
    return secret


def write_private(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file as write_atomically() does, in a folder of the companion's own. Raise OSError."""
    _sweep_drafts(path.parent)
    write_atomically(path, data, mode)


def write_atomically(path: Path, data: bytes, mode: int = 0o600, owner: tuple[int, int] = KEPT_OWNER) -> None:
    """Write and sync a file, whole or not at all, for this user only unless `mode` says more. Raise OSError."""
    draft = path.with_name(_DRAFT + secrets.token_hex(_DRAFT_BYTES))
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            os.fchmod(file.fileno(), mode)
            if owner != KEPT_OWNER:
                os.fchown(file.fileno(), *owner)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@cache
def _sweep_drafts(folder: Path) -> None:
    """Remove what killed processes left in a folder, once in a process."""
    for draft in folder.glob(_DRAFT + 2 * _DRAFT_BYTES * "[0-9a-f]"):
        with contextlib.suppress(OSError):
            if draft.stat().st_mtime < time.time() - _DRAFT_SECONDS:
                draft.unlink()


def read_private(path: Path, most: int = 4096) -> bytes:
    """Return the first bytes of a private file. Raise SettingError."""
    try:
        with path.open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise SettingError(str(path), "may be read by others: chmod 600 it, and change the secret in it.")
            return file.read(most)
    except OSError as error:
        raise SettingError(str(path), f"cannot be read: {error.strerror}.") from None
