"""All settings of a companion, described in docs/reference/companion-settings.md."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import unquote, urlsplit

from engram_host.companion.bridge_settings import BRIDGES_TABLE, BridgeSettings, PeopleSettings, read_bridges
from engram_host.companion.errors import SettingError
from engram_host.companion.folder_settings import FoldersSettings
from engram_host.companion.settings_reader import read_file, read_section, secrets_in, setting
from engram_host.companion.types import ConversationLimits, LineQuota, MediaLimits, RetentionLimits


@dataclass(frozen=True)
class HttpSettings:
    host: str = setting("127.0.0.1", "ENGRAM_HTTP_HOST", high=200)
    port: int = setting(8765, "ENGRAM_HTTP_PORT", low=0, high=65535)
    certificate: str = setting("", "ENGRAM_HTTP_CERTIFICATE", high=500)
    key: str = setting("", "ENGRAM_HTTP_KEY", high=500)


@dataclass(frozen=True)
class MqttSettings:
    """Broker for boards with MQTT; none without a URL."""

    url: str = setting("", "ENGRAM_MQTT_URL", high=500)
    username: str = setting("", "ENGRAM_MQTT_USERNAME", high=200)
    password: str = setting("", "ENGRAM_MQTT_PASSWORD", high=200, secret=True)
    authority: str = setting("", "ENGRAM_MQTT_AUTHORITY", high=500)
    home_assistant: bool = setting(False, "ENGRAM_MQTT_HOME_ASSISTANT")
    home_assistant_prefix: str = setting("homeassistant", "ENGRAM_MQTT_HOME_ASSISTANT_PREFIX", high=100)


@dataclass(frozen=True)
class StoreSettings:
    backend: str = setting("auto", "ENGRAM_STORE", one_of=("auto", "sqlite", "postgres"))
    url: str = setting("", "ENGRAM_STORE_URL", high=500, secret=True)
    daily_backups: int = setting(3, "ENGRAM_STORE_DAILY_BACKUPS", low=0, high=30)
    device_lines: int = setting(200000, "ENGRAM_STORE_DEVICE_LINES", low=0, high=1 << 40)
    device_megabytes: int = setting(64, "ENGRAM_STORE_DEVICE_MEGABYTES", low=0, high=1 << 20)
    former_days: int = setting(365, "ENGRAM_STORE_FORMER_DAYS", low=0, high=36500)
    former_megabytes: int = setting(256, "ENGRAM_STORE_FORMER_MEGABYTES", low=0, high=1 << 20)
    turn_days: int = setting(0, "ENGRAM_STORE_TURN_DAYS", low=0, high=36500)
    reading_days: int = setting(730, "ENGRAM_STORE_READING_DAYS", low=0, high=36500)
    reading_megabytes: int = setting(256, "ENGRAM_STORE_READING_MEGABYTES", low=0, high=1 << 20)


@dataclass(frozen=True)
class SearchSettings:
    words: bool = setting(True, "FTS_ENABLED")
    meaning: bool = setting(True, "ENGRAM_MEANING")
    weight: float = setting(-1.0, "ENGRAM_MEANING_WEIGHT", low=-1, high=1)
    index_megabytes: int = setting(192, "ENGRAM_INDEX_MEGABYTES", low=16, high=65536)

    def __post_init__(self) -> None:
        if not self.words and not self.meaning:
            raise SettingError("search.words", "or search.meaning has to stay true.")


@dataclass(frozen=True)
class SecuritySettings:
    tokens: str = setting("auto", "ENGRAM_TOKENS", one_of=("auto", "on"))
    hosts: str = setting("", "ENGRAM_HOSTS", high=1000)
    messages_a_second: float = setting(200.0, "ENGRAM_MESSAGES_A_SECOND", low=0, high=100000)
    messages_at_once: int = setting(2000, "ENGRAM_MESSAGES_AT_ONCE", low=1, high=100000)


@dataclass(frozen=True)
class GatewaySettings:
    url: str = setting("", "ENGRAM_GATEWAY_URL", high=500)
    api: str = setting("openai", "ENGRAM_GATEWAY_API", one_of=("openai", "anthropic"))
    model: str = setting("", "ENGRAM_GATEWAY_MODEL", high=200)
    models: str = setting("", "ENGRAM_GATEWAY_MODELS", high=2000)
    parameters: str = setting("", "ENGRAM_GATEWAY_PARAMETERS", high=2000)
    device_calls: int = setting(1000, "ENGRAM_GATEWAY_DEVICE_CALLS", low=0, high=1 << 40)
    device_tokens: int = setting(2000000, "ENGRAM_GATEWAY_DEVICE_TOKENS", low=0, high=1 << 40)
    all_calls: int = setting(5000, "ENGRAM_GATEWAY_ALL_CALLS", low=0, high=1 << 40)
    all_tokens: int = setting(10000000, "ENGRAM_GATEWAY_ALL_TOKENS", low=0, high=1 << 40)
    timeout_seconds: int = setting(600, "ENGRAM_GATEWAY_TIMEOUT", low=1, high=3600)

    @property
    def has_model(self) -> bool:
        return bool(self.url and self.model)


@dataclass(frozen=True)
class ChatSettings:
    waiting_days: int = setting(7, "ENGRAM_CHAT_WAITING_DAYS", low=1, high=365)
    kept_hours: int = setting(24, "ENGRAM_CHAT_KEPT_HOURS", low=1, high=8760)
    board_messages: int = setting(200, "ENGRAM_CHAT_BOARD_MESSAGES", low=1, high=10000)
    person_messages: int = setting(20, "ENGRAM_CHAT_PERSON_MESSAGES", low=1, high=10000)
    mqtt: bool = setting(False, "ENGRAM_CHAT_MQTT")


@dataclass(frozen=True)
class AlertSettings:
    """Alerts to outside services; minutes and per cent of 0 disable one."""

    on: bool = setting(True, "ENGRAM_ALERTS")
    away_minutes: int = setting(15, "ENGRAM_ALERTS_AWAY_MINUTES", low=0, high=100000)
    flash_percent: int = setting(90, "ENGRAM_ALERTS_FLASH_PERCENT", low=0, high=100)
    pairing: bool = setting(True, "ENGRAM_ALERTS_PAIRING")
    pushes: bool = setting(True, "ENGRAM_ALERTS_PUSHES")
    cooldown_minutes: int = setting(60, "ENGRAM_ALERTS_COOLDOWN_MINUTES", low=1, high=10080)
    keyring: bool = setting(False, "ENGRAM_ALERTS_KEYRING")


MEDIA_TABLE = "media"
MEDIA_TYPES = (
    *("image/jpeg", "image/png", "image/gif", "image/webp"),
    *("audio/ogg", "audio/mpeg", "audio/mp4", "audio/wav", "audio/flac"),
)
"""Types that are recognizable by their bytes and run nothing in a browser."""


@dataclass(frozen=True)
class MediaSettings:
    """Quotas of photos and sounds; raises SettingError for contradictions."""

    megabytes: int = setting(8, "ENGRAM_MEDIA_MEGABYTES", low=1, high=64)
    board_megabytes: int = setting(256, "ENGRAM_MEDIA_BOARD_MEGABYTES", low=1, high=1 << 20)
    board_count: int = setting(2000, "ENGRAM_MEDIA_BOARD_COUNT", low=0, high=1000000)
    types: str = setting(" ".join(MEDIA_TYPES), "ENGRAM_MEDIA_TYPES", high=500)

    def __post_init__(self) -> None:
        if self.board_megabytes < self.megabytes:
            problem = f"must be at least {MEDIA_TABLE}.megabytes ({self.megabytes}): one photo would not fit."
            raise SettingError(f"{MEDIA_TABLE}.board_megabytes", problem)
        named = self.types.split()
        if not named or not set(named) <= set(MEDIA_TYPES):
            raise SettingError(f"{MEDIA_TABLE}.types", f"names some of {', '.join(MEDIA_TYPES)}, with spaces between.")


# --- embedding


_EMBEDDING_TABLE = "embedding"
PROVIDERS = ("auto", "minilm", "e5", "openai", "none")
FALLBACKS = ("local", "minilm", "e5", "none")

_MOST_HEADERS = 32
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


@dataclass(frozen=True)
class EmbeddingSettings:
    """Embedder and its options; raises SettingError for invalid texts."""

    provider: str = setting("auto", "EMBEDDING_PROVIDER", one_of=PROVIDERS)
    api_key: str = setting("", "EMBEDDING_API_KEY", high=500, secret=True)
    base_url: str = setting("", "EMBEDDING_BASE_URL", high=500)
    model_name: str = setting("", "EMBEDDING_MODEL_NAME", high=200)
    dimensions: int = setting(0, "EMBEDDING_DIMENSIONS", low=0, high=16384)
    use_dimensions: bool = setting(False, "EMBEDDING_USE_DIMENSIONS")
    headers: str = setting("", "EMBEDDING_HEADERS", high=8000, secret=True)
    input_characters: int = setting(8000, "EMBEDDING_INPUT_CHARACTERS", low=16, high=100000)
    batch_size: int = setting(64, "EMBEDDING_BATCH_SIZE", low=1, high=2048)
    timeout_seconds: int = setting(30, "EMBEDDING_TIMEOUT_SECONDS", low=1, high=600)
    threads: int = setting(1, "EMBEDDING_THREADS", low=1, high=64)
    cache: bool = setting(True, "EMBEDDING_CACHE")
    cache_size: int = setting(1000, "EMBEDDING_CACHE_SIZE", low=1, high=1000000)
    fallback: str = setting("local", "EMBEDDING_FALLBACK", one_of=FALLBACKS)
    rebuild: bool = setting(False, "EMBEDDING_REBUILD")
    rebuild_after_seconds: int = setting(3600, "EMBEDDING_REBUILD_AFTER_SECONDS", low=10, high=604800)
    cooldown_seconds: int = setting(30, "EMBEDDING_COOLDOWN_SECONDS", low=1, high=3600)

    def __post_init__(self) -> None:
        _check_key(f"{_EMBEDDING_TABLE}.api_key", self.api_key)
        _check_url(f"{_EMBEDDING_TABLE}.base_url", self.base_url)
        self.header_fields()
        if self.use_dimensions and not self.dimensions:
            raise SettingError(f"{_EMBEDDING_TABLE}.use_dimensions", f"needs {_EMBEDDING_TABLE}.dimensions to be set.")

    @property
    def is_remote_set(self) -> bool:
        return bool(self.api_key or self.base_url)

    def header_fields(self) -> dict[str, str]:
        """Return the headers by name; raises SettingError."""
        name = f"{_EMBEDDING_TABLE}.headers"
        try:
            found = json.loads(self.headers) if self.headers.strip() else {}
        except ValueError:
            raise SettingError(name, 'must be a JSON object such as {"X-Team": "garden"}.') from None
        if not isinstance(found, dict) or len(found) > _MOST_HEADERS:
            raise SettingError(name, f"must be a JSON object of at most {_MOST_HEADERS} headers.")
        for key, value in found.items():
            if not _HEADER_NAME.fullmatch(key):
                raise SettingError(name, "has a name that no header can have.")
            if not isinstance(value, str) or not all(" " <= sign <= "~" for sign in value):
                raise SettingError(name, f"{key} must be a text of printable ASCII signs.")
        return found


def _check_key(name: str, key: str) -> None:
    if not key.isascii() or not all("!" <= sign <= "~" for sign in key):
        raise SettingError(name, "has a space, a line's end or another sign that no key has.")


def _check_url(name: str, url: str) -> None:
    """Raise SettingError unless a URL is a base URL."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise SettingError(name, "must be http(s)://host[:port][/path].") from None
    is_clean = all("!" <= sign <= "~" for sign in url) and not parts.query and not parts.fragment
    if parts.scheme not in ("http", "https") or not has_host or not is_clean:
        raise SettingError(name, "must be http(s)://host[:port][/path].")
    if "@" in parts.netloc:
        raise SettingError(name, "must not hold a name or a password; embedding.headers is the place for these.")


# --- a companion's folder


@dataclass(frozen=True)
class Settings:
    """All settings of a companion, in folder `home`."""

    home: Path
    http: HttpSettings
    mqtt: MqttSettings
    store: StoreSettings
    search: SearchSettings
    embedding: EmbeddingSettings
    folders: FoldersSettings
    security: SecuritySettings
    gateway: GatewaySettings
    chat: ChatSettings
    people: PeopleSettings
    alerts: AlertSettings
    media: MediaSettings
    bridges: tuple[BridgeSettings, ...]


_KINDS: dict[str, type] = {
    name: kind for name, kind in get_type_hints(Settings).items() if name not in ("home", BRIDGES_TABLE)
}


def read_settings(
    home: Path, flags: Mapping[tuple[str, str], Any], environment: Mapping[str, str] = os.environ
) -> Settings:
    """Read the settings; `flags` are {(section, name): value}. Raises SettingError."""
    tables = read_file(home)
    bridges = read_bridges(tables.pop(BRIDGES_TABLE, {}))
    for name, table in tables.items():
        if name not in _KINDS or not isinstance(table, dict):
            raise SettingError(name, f"there is no such table; there are {', '.join((*_KINDS, BRIDGES_TABLE))}.")
    for (table_name, name), value in flags.items():
        tables.setdefault(table_name, {})[name] = value

    sections: dict[str, Any] = {
        name: read_section(kind, name, tables.get(name, {}), environment) for name, kind in _KINDS.items()
    }
    return Settings(home, **sections, bridges=bridges)


def secrets_in_file(home: Path) -> list[str]:
    """Return the dotted names of secrets in companion.toml; raises SettingError."""
    tables = read_file(home)
    return [f"{name}.{each}" for name, kind in _KINDS.items() for each in secrets_in(kind, tables.get(name, {}))]


def line_quota(settings: StoreSettings) -> LineQuota:
    return LineQuota(settings.device_lines, settings.device_megabytes << 20)


def retention_limits(settings: StoreSettings) -> RetentionLimits:
    readings = settings.reading_days, settings.reading_megabytes << 20
    return RetentionLimits(settings.former_days, settings.former_megabytes << 20, settings.turn_days, *readings)


def media_limits(settings: MediaSettings) -> MediaLimits:
    each, board = settings.megabytes << 20, settings.board_megabytes << 20
    return MediaLimits(each, board, settings.board_count, frozenset(settings.types.split()))


def conversation_limits(settings: ChatSettings) -> ConversationLimits:
    return ConversationLimits(settings.board_messages, settings.person_messages)


def store_url(settings: StoreSettings, home: Path) -> str:
    """Return the database's URL by `backend` and `url`; raises SettingError if they disagree."""
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
    """Return the database's file, maybe missing; None for PostgreSQL. Raises SettingError."""
    url = store_url(settings.store, settings.home)
    return Path(unquote(url.removeprefix("sqlite:///"))) if url.startswith("sqlite:///") else None


def make_folder(home: Path) -> None:
    """Create the companion's private folder; raises SettingError if that fails."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(str(home), f"cannot be made: {error.strerror}; name another folder with --home.") from None
