"""The settings of embedding; docs/reference/companion-settings.md says what each is for, and a test keeps the two in step."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from engram_host.companion.errors import SettingError
from engram_host.companion.settings import setting

SECTION = "embedding"
PROVIDERS = ("auto", "minilm", "openai", "gemini", "none")
FALLBACKS = ("minilm", "none")

_MOST_HEADERS = 32
"""Headers of one's own: each travels with every request."""

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


@dataclass(frozen=True)
class EmbeddingSettings:
    """Who makes vectors, and how; read by read_section(). SettingError if texts are not of their form."""

    provider: str = setting("auto", "EMBEDDING_PROVIDER", one_of=PROVIDERS)
    api_key: str = setting("", "EMBEDDING_API_KEY", high=500, secret=True)
    base_url: str = setting("", "EMBEDDING_BASE_URL", high=500)
    model_name: str = setting("", "EMBEDDING_MODEL_NAME", high=200)
    dimensions: int = setting(0, "EMBEDDING_DIMENSIONS", low=0, high=16384)
    use_dimensions: bool = setting(False, "EMBEDDING_USE_DIMENSIONS")
    use_base64: bool = setting(False, "EMBEDDING_USE_BASE64")
    headers: str = setting("", "EMBEDDING_HEADERS", high=8000, secret=True)
    input_characters: int = setting(8000, "EMBEDDING_INPUT_CHARACTERS", low=16, high=100000)
    batch_size: int = setting(64, "EMBEDDING_BATCH_SIZE", low=1, high=2048)
    retries: int = setting(3, "EMBEDDING_RETRIES", low=0, high=10)
    timeout_seconds: int = setting(30, "EMBEDDING_TIMEOUT_SECONDS", low=1, high=600)
    connect_seconds: int = setting(5, "EMBEDDING_CONNECT_SECONDS", low=1, high=60)
    threads: int = setting(1, "EMBEDDING_THREADS", low=1, high=64)
    cache: bool = setting(True, "EMBEDDING_CACHE")
    cache_size: int = setting(1000, "EMBEDDING_CACHE_SIZE", low=1, high=1000000)
    fallback: str = setting("minilm", "EMBEDDING_FALLBACK", one_of=FALLBACKS)
    rebuild: bool = setting(False, "EMBEDDING_REBUILD")
    rebuild_after_seconds: int = setting(3600, "EMBEDDING_REBUILD_AFTER_SECONDS", low=10, high=604800)
    cooldown_seconds: int = setting(30, "EMBEDDING_COOLDOWN_SECONDS", low=1, high=3600)
    batch_jobs: bool = setting(False, "EMBEDDING_BATCH_JOBS")
    batch_least: int = setting(2000, "EMBEDDING_BATCH_LEAST", low=1, high=50000)

    def __post_init__(self) -> None:
        if not self.api_key.isascii() or not all("!" <= sign <= "~" for sign in self.api_key):
            raise SettingError(f"{SECTION}.api_key", "has a space, a line's end or another sign that no key has.")
        _check_url(self.base_url)
        self.header_fields()
        if self.use_dimensions and not self.dimensions:
            raise SettingError(f"{SECTION}.use_dimensions", f"needs {SECTION}.dimensions to be set.")

    @property
    def is_remote_set(self) -> bool:
        """Whether anything says which remote service to use."""
        return bool(self.api_key or self.base_url)

    def header_fields(self) -> dict[str, str]:
        """`headers` by their names."""
        name = f"{SECTION}.headers"
        try:
            found = json.loads(self.headers) if self.headers.strip() else {}
        except ValueError:
            raise SettingError(name, 'must be a JSON object such as {"X-Team": "garden"}.') from None
        if not isinstance(found, Mapping) or len(found) > _MOST_HEADERS:
            raise SettingError(name, f"must be a JSON object of at most {_MOST_HEADERS} headers.")
        for key, value in found.items():
            if not _NAME.fullmatch(key):
                raise SettingError(name, "has a name that no header can have.")
            if not isinstance(value, str) or not all(" " <= sign <= "~" for sign in value):
                raise SettingError(name, f"{key} must be a text of printable ASCII signs.")
        return dict(found)


def _check_url(url: str) -> None:
    if not url:
        return
    name = f"{SECTION}.base_url"
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise SettingError(name, "must be http(s)://host[:port][/path].") from None
    is_clean = all("!" <= sign <= "~" for sign in url) and not parts.query and not parts.fragment
    if parts.scheme not in ("http", "https") or not has_host or not is_clean:
        raise SettingError(name, "must be http(s)://host[:port][/path].")
    if "@" in parts.netloc:
        raise SettingError(name, f"must not hold a name or a password; {SECTION}.headers is the place for these.")
