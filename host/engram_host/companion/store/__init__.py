"""Where the companion keeps lines and vectors: one narrow interface, and two databases behind it."""

import logging
from pathlib import Path
from urllib.parse import unquote

from engram_host.companion.errors import SettingError
from engram_host.companion.store.base import Store

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def open_store(url: str = "auto", postgres: str = "", folder: Path | str = ".") -> Store:
    """The store at a URL, opened: `sqlite:///PATH` (`sqlite:////` before an absolute path), `postgresql://...`, or `auto`,
    which is the PostgreSQL at `postgres` if that is given, else the file companion.db in a folder. What was done to the
    schema goes to the log. SettingError, StoreUnavailable.
    """
    store = choose_store(url, postgres, folder)
    for sentence in store.open():
        logging.getLogger(__name__).info(sentence)
    return store


def choose_store(url: str = "auto", postgres: str = "", folder: Path | str = ".") -> Store:
    """The store at a URL as open_store() takes it, not opened yet; SettingError."""
    if url == "auto":
        url = postgres or f"{_SQLITE}{Path(folder) / 'companion.db'}"
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        from engram_host.companion.store.sqlite import SqliteStore

        return SqliteStore(unquote(url.removeprefix(_SQLITE)))
    if url.startswith(_POSTGRES):
        from engram_host.companion.store.postgres import PostgresStore

        return PostgresStore(url)
    raise SettingError("store.url", "has to be auto, sqlite:///PATH or postgresql://USER@HOST/DATABASE.")
