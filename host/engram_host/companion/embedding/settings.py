"""The settings of embedding: where a value comes from, and what it may be."""

import json
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


def _option(default: Any, allowed: tuple, purpose: str, *, secret: bool = False) -> Any:
    """A setting: `allowed` is (lowest, highest) of a number, the words of a choice, (longest,) of a text, () of a flag."""
    return field(default=default, repr=not secret, metadata={"allowed": allowed, "purpose": purpose})


@dataclass(frozen=True)
class EmbeddingSettings:
    """All that can be set; documented in docs/embedding.md from what stands here."""

    provider: str = _option("auto", PROVIDERS, "who makes vectors; auto: a remote service if one is set, else MiniLM")
    api_key: str = _option("", (500,), "key of the remote service; never shown", secret=True)
    base_url: str = _option("", (500,), "where the remote service is, without /embeddings; empty: the provider's own")
    model_name: str = _option("", (200,), "its model; empty: text-embedding-3-small, or gemini-embedding-001")
    dimensions: int = _option(0, (0, 16384), "numbers of a vector; 0: as the model gives them")
    use_dimensions: bool = _option(False, (), "whether `dimensions` is asked for, of a service that can shorten vectors")
    use_base64: bool = _option(False, (), "whether vectors are asked for as base64: a third of the bytes")
    headers: Mapping[str, str] = _option({}, (), "more headers of each request, a JSON object; never shown", secret=True)
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
            problem = _problem(getattr(self, one.name), one.default_factory() if one.name == "headers" else one.default, one.metadata["allowed"])  # type: ignore[misc]
            if problem:
                raise SettingError(GROUP + one.name, problem)
        _check_headers(self.headers)
        _check_printable("api_key", self.api_key)
        _check_url(self.base_url)

    @property
    def is_remote_set(self) -> bool:
        """Whether anything says which remote service to use."""
        return bool(self.api_key or self.base_url)


def load(config: Mapping[str, Any], environment: Mapping[str, str]) -> EmbeddingSettings:
    """Settings from the configuration's group `embedding`, over the environment, over the defaults; SettingError."""
    known = {one.name: one for one in fields(EmbeddingSettings)}
    for name in config:
        if name not in known:
            raise SettingError(GROUP + str(name), "there is no such setting.")
    values = dict(config)
    for name in known:
        text = environment.get(PREFIX + name.upper(), "")
        if name not in values and text:
            values[name] = _from_text(name, text, EmbeddingSettings.__annotations__[name])
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


def _problem(value: Any, default: Any, allowed: tuple) -> str:
    """What is wrong with a value, "" if nothing is; the value itself is never repeated."""
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "must be true or false."
    if isinstance(default, int):
        fits = isinstance(value, int) and not isinstance(value, bool) and allowed[0] <= value <= allowed[1]
        return "" if fits else f"must be a whole number from {allowed[0]} to {allowed[1]}."
    if isinstance(default, str) and isinstance(allowed[0], str):
        return "" if value in allowed else "must be one of " + ", ".join(allowed) + "."
    if isinstance(default, str):
        return "" if isinstance(value, str) and len(value) <= allowed[0] else f"must be a text of at most {allowed[0]}."
    return "" if isinstance(value, Mapping) else "must be an object of names and texts."
