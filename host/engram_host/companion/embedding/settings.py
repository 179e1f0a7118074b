"""The settings of embedding: where a value comes from, and what it may be."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from engram_host.companion.errors import SettingError

PROVIDERS = ("auto", "minilm", "openai", "gemini", "none")
FALLBACKS = ("minilm", "none")
GROUP = "embedding."
"""What the names of these settings begin with."""

PREFIX = "EMBEDDING_"
"""What the names of their environment variables begin with."""

_MOST_HEADERS = 32
"""Headers of one's own: each travels with every request."""


_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


def _option(default: Any, allowed: tuple, purpose: str) -> Any:
    """A setting: `allowed` is (lowest, highest) of a number, the words of a choice, (longest,) of a text, () of a flag."""
    return field(default=default, metadata={"allowed": allowed, "purpose": purpose})


def _secret(allowed: tuple, purpose: str, **default: Any) -> Any:
    """The same of one that is never shown."""
    return field(**default, repr=False, metadata={"allowed": allowed, "purpose": purpose})


@dataclass(frozen=True)
class EmbeddingSettings:
    """All that can be set; documented in docs/embedding.md from what stands here."""

    provider: str = _option("auto", PROVIDERS, "who makes vectors; auto: a remote service if one is set, else MiniLM")
    api_key: str = _secret((500,), "key of the remote service; never shown", default="")
    base_url: str = _option("", (500,), "where the remote service is, without /embeddings; empty: the provider's own")
    model_name: str = _option("", (200,), "its model; empty: text-embedding-3-small, or gemini-embedding-001")
    dimensions: int = _option(0, (0, 16384), "numbers of a vector; 0: as the model gives them")
    use_dimensions: bool = _option(
        False, (), "whether `dimensions` is asked for, of a service that can shorten vectors"
    )
    use_base64: bool = _option(False, (), "whether vectors are asked for as base64: a third of the bytes")
    headers: Mapping[str, str] = _secret(
        (), "more headers of each request, a JSON object; never shown", default_factory=dict
    )
    input_characters: int = _option(8000, (16, 100000), "characters of a text that are sent; the rest is cut off")
    batch_size: int = _option(64, (1, 2048), "texts in one request; Gemini takes at most 100")
    retries: int = _option(3, (0, 10), "attempts after the first, on 408, 425, 429, 5xx and broken links; a query: one")
    timeout_seconds: int = _option(30, (1, 600), "the longest silence of the service before an attempt has failed")
    connect_seconds: int = _option(5, (1, 60), "how long connecting may take")
    threads: int = _option(1, (1, 64), "threads that MiniLM makes passages' vectors in")
    cache: bool = _option(True, (), "whether a text that was embedded before is not embedded again")
    cache_size: int = _option(1000, (1, 1000000), "vectors of queries that are kept in memory")
    fallback: str = _option("minilm", FALLBACKS, "who makes vectors when the remote service cannot; see below")
    rebuild: bool = _option(False, (), "whether a fallback may replace an index that another model made")
    rebuild_after_seconds: int = _option(3600, (10, 604800), "and how long the index's own embedder has failed then")
    cooldown_seconds: int = _option(30, (1, 3600), "how long one that failed is left alone")
    batch_jobs: bool = _option(False, (), "whether large back-fills go as batch jobs: half the price, up to a day")
    batch_least: int = _option(2000, (1, 50000), "texts from which on a back-fill is a batch job")

    def __post_init__(self) -> None:
        for one in fields(self):
            problem = _problem(one.type, getattr(self, one.name), one.metadata["allowed"])
            if problem:
                raise SettingError(GROUP + one.name, problem)
        if not self.api_key.isprintable() or not self.api_key.isascii() or " " in self.api_key:
            raise SettingError(GROUP + "api_key", "has a space, a line's end or a sign that a key cannot have.")
        _check_headers(self.headers)
        _check_url(self.base_url)

    @property
    def is_remote_set(self) -> bool:
        """Whether anything says which remote service to use."""
        return bool(self.api_key or self.base_url)


def load(config: Mapping[str, Any], environment: Mapping[str, str]) -> EmbeddingSettings:
    """Settings from the configuration's group `embedding`, over the environment, over the defaults; SettingError."""
    known = {one.name: one.type for one in fields(EmbeddingSettings)}
    for name in config:
        if name not in known:
            raise SettingError(GROUP + str(name), "there is no such setting.")
    values = dict(config)
    for name, kind in known.items():
        text = environment.get(PREFIX + name.upper(), "")
        if name not in values and text:
            values[name] = _from_text(name, text, kind)
    return EmbeddingSettings(**values)


def _from_text(name: str, text: str, kind: Any) -> Any:
    variable = f"{GROUP}{name} (environment variable {PREFIX}{name.upper()})"
    if kind is bool:
        word = text.strip().lower()
        if word not in ("true", "false", "1", "0", "yes", "no", "on", "off"):
            raise SettingError(variable, "must be true or false.")
        return word in ("true", "1", "yes", "on")
    if kind is str:
        return text
    try:
        return int(text) if kind is int else json.loads(text)
    except ValueError:
        raise SettingError(variable, "must be a whole number." if kind is int else "must be a JSON object.") from None


def _problem(kind: Any, value: Any, allowed: tuple) -> str:
    """What is wrong with a value, "" if nothing is; the value itself is never repeated, it may be a secret."""
    if kind is bool:
        return "" if isinstance(value, bool) else "must be true or false."
    if kind is int:
        fits = isinstance(value, int) and not isinstance(value, bool) and allowed[0] <= value <= allowed[1]
        return "" if fits else f"must be a whole number from {allowed[0]} to {allowed[1]}."
    if kind is not str:
        return "" if isinstance(value, Mapping) else "must be an object of names and texts."
    if isinstance(allowed[0], str):
        return "" if value in allowed else f"must be one of {', '.join(allowed)}."
    fits = isinstance(value, str) and len(value) <= allowed[0]
    return "" if fits else f"must be a text of at most {allowed[0]} characters."


def _check_headers(headers: Mapping[str, str]) -> None:
    if len(headers) > _MOST_HEADERS:
        raise SettingError(GROUP + "headers", f"has more than {_MOST_HEADERS} headers.")
    for name, value in headers.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise SettingError(GROUP + "headers", "has a name that no header can have.")
        if not isinstance(value, str) or not value.isprintable() or not value.isascii():
            raise SettingError(GROUP + "headers", f"{name} must be a text of printable ASCII signs.")


def _check_url(url: str) -> None:
    if not url:
        return
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
        _ = parts.port
    except ValueError:
        is_good = False
        parts = None
    if not is_good or not url.isascii() or not url.isprintable() or " " in url:
        raise SettingError(GROUP + "base_url", "must be http(s)://host[:port][/path].")
    if parts and "@" in parts.netloc:
        raise SettingError(GROUP + "base_url", "must not have a name or a password in it; use embedding.headers.")
