"""The companion in a folder: all its settings, and the store that they name. Light to load, for commands that need no more."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from engram_host.companion.embedding.settings import EmbeddingSettings
from engram_host.companion.errors import SettingError
from engram_host.companion.folders.settings import FoldersSettings
from engram_host.companion.settings import (
    GatewaySettings,
    HttpSettings,
    MqttSettings,
    SearchSettings,
    SecuritySettings,
    StoreSettings,
    read_file,
    read_section,
    secrets_in,
)
from engram_host.companion.store import open_store
from engram_host.companion.store.base import Store


@dataclass(frozen=True)
class Settings:
    """All settings of one companion; `home` is the folder of its files."""

    home: Path
    http: HttpSettings
    mqtt: MqttSettings
    store: StoreSettings
    search: SearchSettings
    embedding: EmbeddingSettings
    folders: FoldersSettings
    security: SecuritySettings
    gateway: GatewaySettings


_KINDS: dict[str, type] = {
    "http": HttpSettings,
    "mqtt": MqttSettings,
    "store": StoreSettings,
    "search": SearchSettings,
    "embedding": EmbeddingSettings,
    "folders": FoldersSettings,
    "security": SecuritySettings,
    "gateway": GatewaySettings,
}


def read_settings(
    home: Path, flags: Mapping[tuple[str, str], Any], environment: Mapping[str, str] = os.environ
) -> Settings:
    """The settings of the companion in a folder; `flags` are {(section, name): value}. SettingError."""
    tables = read_file(home)
    for name, table in tables.items():
        if name not in _KINDS or not isinstance(table, dict):
            raise SettingError(name, f"there is no such table; there are {', '.join(_KINDS)}.")
    for (table_name, name), value in flags.items():
        tables.setdefault(table_name, {})[name] = value

    sections: dict[str, Any] = {
        name: read_section(kind, name, tables.get(name, {}), environment) for name, kind in _KINDS.items()
    }
    return Settings(home, **sections)


def secrets_in_file(home: Path) -> list[str]:
    """The dotted names of the secret settings that stand in companion.toml. SettingError."""
    tables = read_file(home)
    return [f"{name}.{each}" for name, kind in _KINDS.items() for each in secrets_in(kind, tables.get(name, {}))]


def store_of(settings: Settings) -> Store:
    """The store that settings name, opened. SettingError, StoreUnavailable."""
    return open_store(store_url(settings.store, settings.home))


def store_url(settings: StoreSettings, home: Path) -> str:
    """Where the database is, by `backend` and `url`, which have to fit each other; SettingError."""
    url = settings.url
    kind = "" if not url else "sqlite" if url.startswith("sqlite:") else "postgres"
    if settings.backend == "postgres" and not url:
        raise SettingError("store.url", "is empty, and store.backend postgres needs postgresql://USER@HOST/DATABASE.")
    if settings.backend != "auto" and kind not in ("", settings.backend):
        raise SettingError(
            "store.backend", f"is {settings.backend}, and store.url names another one: change one of them."
        )
    return url or f"sqlite:///{home / 'companion.db'}"


def database_file(settings: Settings) -> Path | None:
    """The file of the database, which need not be there; None if it is PostgreSQL. SettingError."""
    url = store_url(settings.store, settings.home)
    return Path(unquote(url.removeprefix("sqlite:///"))) if url.startswith("sqlite:///") else None


def make_folder(home: Path) -> None:
    """Make the folder of the companion's files, for its owner alone; SettingError if it cannot be made."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(str(home), f"cannot be made: {error.strerror}; name another folder with --home.") from None
