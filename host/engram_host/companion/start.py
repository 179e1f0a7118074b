"""Starts a companion: reads its settings, opens its store, and serves until it is told to stop."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engram_host import __version__
from engram_host.companion.embedding.settings import EmbeddingSettings
from engram_host.companion.errors import SettingError
from engram_host.companion.http import make_app
from engram_host.companion.meaning import Meaning
from engram_host.companion.service import Service, Settings
from engram_host.companion.settings import (
    HttpSettings,
    MqttSettings,
    SearchSettings,
    StoreSettings,
    read_file,
    read_section,
)
from engram_host.companion.store import open_store
from engram_host.companion.web import WebServer

_SECTIONS = ("http", "mqtt", "store", "search", "embedding")


def read_settings(
    home: Path, flags: Mapping[tuple[str, str], Any], environment: Mapping[str, str] = os.environ
) -> Settings:
    """The settings of the companion in a folder; `flags` are {(section, name): value}. SettingError."""
    tables = read_file(home)
    for name, table in tables.items():
        if name not in _SECTIONS or not isinstance(table, dict):
            raise SettingError(name, f"there is no such table; there are {', '.join(_SECTIONS)}.")
    for (section, name), value in flags.items():
        tables.setdefault(section, {})[name] = value

    def section(kind: type, name: str) -> Any:
        return read_section(kind, name, tables.get(name, {}), environment)

    return Settings(
        home,
        section(HttpSettings, "http"),
        section(MqttSettings, "mqtt"),
        section(StoreSettings, "store"),
        section(SearchSettings, "search"),
        section(EmbeddingSettings, "embedding"),
    )
