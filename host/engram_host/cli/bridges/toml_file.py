"""Changes companion.toml without touching the rest, comments included."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from engram_host.companion.auth.tokens import write_private
from engram_host.companion.bridge_settings import BRIDGES_TABLE
from engram_host.companion.errors import SettingError
from engram_host.companion.settings_reader import FILE

_KEPT = ("on", "boards", "policy", "allow")
"""Settings of a bridge that another account under its name keeps."""


def put_bridge(home: Path, name: str, values: Mapping[str, Any]) -> None:
    """Write a bridge's table in the place of a former one; raises SettingError."""

    def change(document: tomlkit.TOMLDocument) -> None:
        if BRIDGES_TABLE not in document:
            document[BRIDGES_TABLE] = tomlkit.table(is_super_table=True)
        bridges: Any = document[BRIDGES_TABLE]
        table, former = tomlkit.table(), bridges.get(name, {})
        table.update({key: former[key] for key in _KEPT if key in former} | dict(values))
        bridges[name] = table

    _change(home, change)


def drop_bridge(home: Path, name: str) -> None:
    """Remove a bridge's table; raises SettingError."""

    def change(document: tomlkit.TOMLDocument) -> None:
        bridges: Any = document.get(BRIDGES_TABLE, {})
        bridges.pop(name, None)
        if not bridges:
            document.pop(BRIDGES_TABLE, None)

    _change(home, change)


def _change(home: Path, change: Callable[[tomlkit.TOMLDocument], None]) -> None:
    path = home / FILE
    try:
        text, mode = (path.read_text(encoding="utf-8"), path.stat().st_mode & 0o777) if path.exists() else ("", 0o600)
        document = tomlkit.parse(text)
        change(document)
        write_private(path, tomlkit.dumps(document).encode(), mode)
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise SettingError(str(path), f"is not valid TOML: {error}.") from None
    except OSError as error:
        raise SettingError(str(path), f"cannot be written: {error.strerror}.") from None
