"""Embedders: the protocol, checks of vectors, a cache, one that refuses, and a chain.

Of a chain (FallbackEmbedder) one embedder makes the vectors of the index. Vectors of two models cannot be compared, so a
chain keeps these rules:

1. At any time there is one identity, `model` and `dimensions`, and all vectors are of it. An embedder of another identity
   is never asked for a vector; while those of the identity fail, embed() fails, and searches use words.
2. The identity changes only in ready(), which the indexer calls, never in embed(): so a vector belongs to the
   identity at the time of the call.
3. At the start the identity is that of the first embedder that is ready, but not beyond the one that made the index: if
   that one fails, the chain waits for it. A better one that comes before it (somebody has set a key) begins a new index.
4. Later on, it goes forward in the chain when an embedder that comes before the chosen one has become ready, which is
   tried every `rebuild_after_seconds`; and backward only if `rebuild` is set and the chosen one has failed for as long.
5. An embedder that failed is paused for `cooldown_seconds`; its error is kept until it works again.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Literal, Protocol

import numpy as np

from engram_host.companion.errors import EmbedderError, EmbedderRefused, EmbedderUnavailable
from engram_host.companion.settings import EmbeddingSettings
from engram_host.companion.store.vectors import Identity, Vector, text_digest

Kind = Literal["passage", "query"]
"""Purpose of a text: stored in an index, or a query; some models distinguish them."""

_LEAST_LENGTH = 1e-6


class Embedder(Protocol):
    """Maker of vectors, which compare if `model` and `dimensions` are equal."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 while unknown."""
        ...

    async def ready(self) -> None:
        """Ensure that vectors can be made; cheap if repeated. Raises EmbedderError."""
        ...

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        """Return unit vectors, (len(texts), dimensions) float32, or raise EmbedderError: all or none."""
        ...

    async def close(self) -> None:
        """Release connections and threads; may be called twice."""
        ...


def normalize(vectors: np.ndarray, count: int, dimensions: int, source: str) -> Vector:
    """Return (count, dimensions) float32 unit vectors; raises EmbedderRefused for any other shape."""
    if vectors.ndim != 2 or len(vectors) != count:
        raise EmbedderRefused(
            f"{source} answered with another number of vectors ({len(vectors)}) than of texts ({count})."
        )
    if vectors.shape[1] != dimensions:
        raise EmbedderRefused(
            f"{source} gave vectors of {vectors.shape[1]} dimensions where {dimensions} were expected; "
            "set embedding.dimensions to what the model gives."
        )
    rows = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if not (np.isfinite(lengths) & (lengths > _LEAST_LENGTH)).all():
        raise EmbedderRefused(f"{source} gave a vector that is not a direction: zero, infinite or not a number.")
    return (rows / lengths[:, None]).astype(np.float32)


def encodable(text: str) -> str:
    """Return `text` without lone surrogates, which cannot be sent or tokenised."""
    return text.encode("utf-8", "replace").decode("utf-8")


# --- no embedder


class NoEmbedder:
    def __init__(self, why: str = "embedding is switched off (embedding.provider is none)."):
        self._why = why

    @property
    def model(self) -> str:
        return ""

    @property
    def dimensions(self) -> int:
        return 0

    @property
    def reason(self) -> str:
        return self._why

    async def ready(self) -> None:
        raise EmbedderRefused(self._why)

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        raise EmbedderRefused(self._why)

    async def close(self) -> None:
        """Do nothing."""


# --- cache


class VectorStore(Protocol):
    def cached(self, identity: Identity, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return cached vectors of passages, by the text's digest."""
        ...


class CachedEmbedder:
    """Cache before `embedder`: passages in the store, the last `queries` queries in memory."""

    def __init__(self, embedder: Embedder, store: VectorStore, key_version: int, *, queries: int = 1000):
        self._embedder = embedder
        self._store = store
        self._key_version = key_version
        self._most_queries = queries
        self._queries: OrderedDict[tuple[str, int, bytes], Vector] = OrderedDict()

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def reason(self) -> str:
        """Return the embedder's problem, or ""."""
        return getattr(self._embedder, "reason", "")

    async def ready(self) -> None:
        await self._embedder.ready()

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        """Embed, as in Embedder; may also raise StoreUnavailable for passages."""
        made = self.model, self.dimensions
        digests = [text_digest(text) for text in texts]
        known = self._known_queries(made, digests) if kind == "query" else await self._known_passages(made, digests)
        new = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if new:
            if (self.model, self.dimensions) != made:
                raise EmbedderUnavailable("another model took over while the store was asked; it is asked next time.")
            found = dict(zip(new, await self._embedder.embed(list(new.values()), kind), strict=True))
            known |= found
            if kind == "query":
                self._keep((self.model, self.dimensions), found)
        return np.array([known[digest] for digest in digests], np.float32).reshape(len(texts), self.dimensions)

    async def close(self) -> None:
        await self._embedder.close()

    async def _known_passages(self, made: tuple[str, int], digests: Sequence[bytes]) -> dict[bytes, Vector]:
        if not made[0]:
            return {}
        return dict(await asyncio.to_thread(self._store.cached, Identity(*made, self._key_version), digests))

    def _known_queries(self, made: tuple[str, int], digests: Sequence[bytes]) -> dict[bytes, Vector]:
        known = {}
        for digest in digests:
            vector = self._queries.get((*made, digest))
            if vector is not None:
                self._queries.move_to_end((*made, digest))
                known[digest] = vector
        return known

    def _keep(self, made: tuple[str, int], vectors: dict[bytes, Vector]) -> None:
        for digest, vector in vectors.items():
            self._queries[(*made, digest)] = vector.copy()  # not a view, which would hold its whole batch
        while len(self._queries) > self._most_queries:
            self._queries.popitem(last=False)


Made = tuple[str, int]

TEXT_ERRORS = (400, 413, 422)
"""Statuses that refuse a text, not the caller: no reason for a pause."""


@dataclass
class _Link:
    """State of an embedder; `failing_since` and `again` are of the clock, 0 while it works."""

    embedder: Embedder
    why: str = ""
    failing_since: float = 0.0
    again: float = 0.0


class FallbackEmbedder:
    def __init__(
        self,
        embedders: Sequence[Embedder],
        settings: EmbeddingSettings,
        made: Made | None = None,
        clock: Callable[[], float] = monotonic,
    ):
        """`made` is the index's model and dimensions, None if there is no index."""
        if not embedders:
            raise ValueError("a chain has at least one embedder")
        self._links = [_Link(embedder) for embedder in embedders]
        self._made = made
        self._chosen: _Link | None = None
        self._settings = settings
        self._clock = clock
        self._forward_again = 0.0

    @property
    def model(self) -> str:
        """Model of the chosen identity, or of the index while nothing is chosen."""
        return self._identity[0]

    @property
    def dimensions(self) -> int:
        return self._identity[1]

    @property
    def reason(self) -> str:
        """Return a sentence on failures, "" if all that was tried works."""
        return " ".join(link.why for link in self._links if link.why)

    async def ready(self) -> None:
        """Choose an embedder if none is chosen or it failed too long; see the rules above."""
        if self._chosen is None:
            await self._choose(self._candidates())
        elif not self._chosen.why:
            await self._go_forward(self._chosen)
        elif self._may_rebuild(self._chosen):
            await self._choose([link for link in self._links if not self._is_same(link)])
        elif self._is_resting(self._chosen):
            raise EmbedderUnavailable(self._chosen.why)
        else:
            await self._try_embedder(self._chosen)

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        if self._chosen is None:
            raise EmbedderUnavailable(self.reason or "no embedder was chosen yet.")
        failure: EmbedderError | None = None
        for link in [link for link in self._links if self._is_same(link) and not self._is_resting(link)]:
            try:
                vectors = await link.embedder.embed(texts, kind)
            except EmbedderError as error:
                if isinstance(error, EmbedderRefused) and error.status in TEXT_ERRORS:
                    raise
                self._note_failure(link, error)
                failure = error
            else:
                self._note_success(link)
                return vectors
        raise failure or EmbedderUnavailable(self.reason)

    async def close(self) -> None:
        for link in self._links:
            await link.embedder.close()

    @property
    def _identity(self) -> Made:
        if self._chosen is not None:
            return self._chosen.embedder.model, self._chosen.embedder.dimensions
        return self._made or ("", 0)

    def _candidates(self) -> list[_Link]:
        """Return candidates at the start: never past the one that built the index."""
        own = [place for place, link in enumerate(self._links) if self._could_have_made(link)]
        return self._links if self._settings.rebuild or not own else self._links[: own[-1] + 1]

    def _could_have_made(self, link: _Link) -> bool:
        """True if the index may be this one's; its dimensions may be unknown until it is ready."""
        if self._made is None:
            return False
        return link.embedder.model == self._made[0] and link.embedder.dimensions in (0, self._made[1])

    def _is_same(self, link: _Link) -> bool:
        return (link.embedder.model, link.embedder.dimensions) == self._identity

    def _may_rebuild(self, link: _Link) -> bool:
        return self._settings.rebuild and self._clock() - link.failing_since >= self._settings.rebuild_after_seconds

    def _is_resting(self, link: _Link) -> bool:
        return bool(link.why) and self._clock() < link.again

    async def _choose(self, links: Sequence[_Link]) -> None:
        for link in links:
            if self._is_resting(link):
                continue
            try:
                await self._try_embedder(link)
            except EmbedderError:
                continue
            self._chosen = link
            self._forward_again = self._clock() + self._settings.rebuild_after_seconds
            return
        raise EmbedderUnavailable(self.reason)

    async def _go_forward(self, chosen: _Link) -> None:
        before = self._links[: self._links.index(chosen)]
        if before and self._clock() >= self._forward_again:
            self._forward_again = self._clock() + self._settings.rebuild_after_seconds
            with suppress(EmbedderUnavailable):
                await self._choose(before)

    async def _try_embedder(self, link: _Link) -> None:
        try:
            await link.embedder.ready()
        except EmbedderError as error:
            self._note_failure(link, error)
            raise
        self._note_success(link)

    def _note_failure(self, link: _Link, error: EmbedderError) -> None:
        now = self._clock()
        link.failing_since = link.failing_since if link.why else now
        link.why = str(error)
        link.again = now + self._settings.cooldown_seconds

    def _note_success(self, link: _Link) -> None:
        link.why = ""
