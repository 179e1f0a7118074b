"""Keeps the index: embeds lines without a vector of the current identity, in the background.

Progress is by versions: a note per board has those that are done (see IndexPosition), so that work resumes after a restart,
the newest lines come first, and memory holds one window of lines. A repeated vector replaces the first one, so a kill costs
work but never a vector.

When the identity changes, searches use words only until all lines have new vectors; then the old ones are dropped. Of
several companions on one database, the one with the lease keeps the index, and the others follow its notes.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from engram_host.companion.embedding.embedder import TEXT_ERRORS, Embedder
from engram_host.companion.errors import EmbedderError, EmbedderRefused, StoreUnavailable
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.processes import Lease
from engram_host.companion.store.values import ValueTable
from engram_host.companion.store.vectors import Identity, StoredVector, Vector, VectorTable, text_digest
from engram_host.companion.supervisor import Backoff, wait_for_event
from engram_host.companion.types import Change, Device

TextOf = Callable[[Device, Change], str]

WINDOW = 2000
"""Versions per round: bounds the lines in memory to 8 MB."""

TEXTS_AT_ONCE = 64
"""Texts per call: bounds the loss by a kill or a service that fails, and the delay of a change of identity."""

_POLL_SECONDS = 10.0
"""Seconds between looks for lines that another companion received."""

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0

_PROBE = "ready"

_INDEX = "embedding.index"
_POSITION = "embedding.position."

_MOST_GAPS = 32
"""Limit of a board's gaps; beyond it the two oldest are joined."""

Gap = tuple[int, int]
"""Versions after the first, up to the second."""


@dataclass(frozen=True)
class IndexState:
    """Identity of the index; `replaces` names the former one until this one is whole."""

    made: Identity | None = None
    replaces: str = ""


@dataclass
class IndexPosition:
    """Embedded versions of a device: up to `top`, except `gaps` (ascending)."""

    identity: str
    zone: int = 0
    top: int = 0
    gaps: list[Gap] = field(default_factory=list)

    @property
    def versions_left(self) -> int:
        return sum(end - start for start, end in self.gaps)

    def extend_to(self, version: int) -> None:
        """Add new versions; all of them if the database has gone back behind this note."""
        if version < self.top:
            self.top, self.gaps = 0, []
        if version > self.top:
            self._add(self.top, version)
            self.top = version

    def newest_gap(self, size: int) -> Gap:
        """Return the newest versions not yet checked, at most `size`; there must be a gap."""
        start, end = self.gaps[-1]
        return max(start, end - size), end

    def close_gap(self, gap: Gap) -> None:
        start, end = self.gaps.pop()
        if (gap[1], start) != (end, min(start, gap[0])):
            raise ValueError("only what newest_gap() gave can be closed")
        if start < gap[0]:
            self.gaps.append((start, gap[0]))

    def _add(self, start: int, end: int) -> None:
        if self.gaps and self.gaps[-1][1] == start:
            start = self.gaps.pop()[0]
        self.gaps.append((start, end))
        if len(self.gaps) > _MOST_GAPS:
            (first, _), (_, last) = self.gaps[:2]
            self.gaps[:2] = [(first, last)]


def read_index(notes: ValueTable) -> IndexState:
    note = notes.get(_INDEX)
    if not note:
        return IndexState()
    found = json.loads(note)
    return IndexState(Identity(*found["made"]), found["replaces"])


def write_index(notes: ValueTable, made: Identity, replaces: str) -> None:
    notes.put(_INDEX, json.dumps({"made": [made.model, made.dimensions, made.key], "replaces": replaces}))


def read_position(notes: ValueTable, device: str, identity: Identity, zone: int = 0) -> IndexPosition:
    """Read a device's position; empty if the note has another identity or zone."""
    note = notes.get(_POSITION + device)
    if note:
        found = json.loads(note)
        if (found["identity"], found["zone"]) == (str(identity), zone):
            return IndexPosition(str(identity), zone, found["top"], [(start, end) for start, end in found["gaps"]])
    return IndexPosition(str(identity), zone)


def write_position(notes: ValueTable, device: str, position: IndexPosition) -> None:
    found = {"identity": position.identity, "zone": position.zone, "top": position.top, "gaps": position.gaps}
    notes.put(_POSITION + device, json.dumps(found))


# --- the task


class EmbeddingIndexer:
    """Background task of the index; the rest of the companion reads its state."""

    def __init__(
        self,
        *,
        boards: BoardTable,
        values: ValueTable,
        vectors: VectorTable,
        embedder: Embedder,
        text_of: TextOf,
        key_version: int,
        prepare: Callable[[], Awaitable[None]],
        failed: Callable[[], None] = lambda: None,
        lease: Lease | None = None,
    ):
        """`prepare()` is awaited before searches use another identity. Without a `lease` no other process indexes."""
        self._boards = boards
        self._values = values
        self._vectors = vectors
        self._embedder = embedder
        self._text_of = text_of
        self._key_version = key_version
        self._prepare = prepare
        self._failed = failed
        self._awake = asyncio.Event()
        self._lease = lease or Lease("embedding")
        self._lease.on_change = self._awake.set
        self.identity: Identity | None = None
        """Identity of the vectors for searches; None while searches use words only."""
        self._positions: dict[str, IndexPosition] = {}
        self._done_in_gap = 0
        self.total = 0
        """Number of changed lines."""
        self.is_starting = True
        """True while the embedder is loaded for the first time."""
        self.paused = "the embedder is starting: searches go by words only until it has."
        self.trouble = ""
        self.refusal = ""

    @property
    def left(self) -> int:
        """Number of changed lines not yet checked."""
        return sum(position.versions_left for position in self._positions.values()) - self._done_in_gap

    def wake(self) -> None:
        self._awake.set()

    async def run(self) -> None:
        """Work until cancelled or an unknown error; known errors are kept in `trouble` and retried."""
        backoff = Backoff(_FIRST_PAUSE, _LONGEST_PAUSE)
        while True:
            self._awake.clear()
            try:
                has_worked = await self.run_round()
            except (EmbedderError, StoreUnavailable) as error:
                self.trouble = str(error)
                self.is_starting = False
                if isinstance(error, EmbedderError):
                    self._failed()
                await asyncio.sleep(backoff.next())
                continue
            backoff.reset()
            self.trouble = ""
            if not has_worked:
                await wait_for_event(self._awake, _POLL_SECONDS)

    async def run_round(self) -> bool:
        """Embed a window of each board; True if there was any. Raises EmbedderError, StoreUnavailable."""
        try:
            await self._embedder.ready()
        except EmbedderError as error:
            if self.identity is None:
                self.paused = f"{str(error).rstrip('.')}: searches go by words only."
            raise
        identity = Identity(self._embedder.model, self._embedder.dimensions, self._key_version)
        is_keeper = self._is_keeper()
        index = await asyncio.to_thread(read_index, self._values)
        if is_keeper and index.made != identity:
            index = await self._begin_index(identity, index)
        await self._follow(identity, index)
        self.is_starting = False
        if not is_keeper:
            return False
        devices = await asyncio.to_thread(self._boards.sources)
        self._positions = await asyncio.to_thread(self._read_positions, devices, identity)
        self.total = sum(device.version for device in devices)
        has_worked = False
        for device in devices:
            position = self._positions[device.name]
            if position.gaps:
                has_worked = True
                if not await self._close_gap(device, identity, position):
                    return True
        if index.replaces and not any(position.gaps for position in self._positions.values()):
            await asyncio.to_thread(self._vectors.drop_vectors, identity)
            await asyncio.to_thread(write_index, self._values, identity, "")
            await self._follow(identity, IndexState(identity))
        return has_worked

    def stop(self) -> None:
        """Release the lease, after run() was cancelled."""
        self._lease.release()

    def _is_keeper(self) -> bool:
        self._lease.claim()
        if not self._lease.is_held:
            self._positions, self._done_in_gap = {}, 0  # the new holder continues them
        return self._lease.is_held

    def _read_positions(self, devices: Sequence[Device], identity: Identity) -> dict[str, IndexPosition]:
        """Return each board's position; the store is asked only for unknown ones."""
        positions = {}
        for device in devices:
            known = self._positions.get(device.name)
            is_other = known is None or (known.identity, known.zone) != (str(identity), device.zone.standard)
            if known is None or is_other or known.top > device.version:
                known = read_position(self._values, device.name, identity, device.zone.standard)
            known.extend_to(device.version)
            positions[device.name] = known
        return positions

    async def _begin_index(self, identity: Identity, before: IndexState) -> IndexState:
        """Begin an index of another identity; the first one replaces none."""
        replaces = str(before.made) if before.made else ""
        await asyncio.to_thread(write_index, self._values, identity, replaces)
        return IndexState(identity, replaces)

    async def _follow(self, identity: Identity, index: IndexState) -> None:
        if index.made == identity and not index.replaces:
            if self.identity != identity:
                self.identity = None
                await self._prepare()
            self.identity, self.paused = identity, ""
        elif index.made == identity:
            self.identity = None
            self.paused = (
                f"vectors are being rebuilt with {identity} in place of {index.replaces}: "
                "searches go by words only until that is done."
            )
        else:
            self.identity = None
            made = index.made or "nothing yet"
            self.paused = (
                f"the index is made with {made}, and this companion has {identity}: searches go by words only."
            )

    async def _close_gap(self, device: Device, identity: Identity, position: IndexPosition) -> bool:
        """Embed the newest gap; False if the embedder changed meanwhile."""
        gap = position.newest_gap(WINDOW)
        self._done_in_gap = 0
        lines = await asyncio.to_thread(self._texts, device, gap)
        for start in range(0, len(lines), TEXTS_AT_ONCE):
            if (self._embedder.model, self._embedder.dimensions) != (identity.model, identity.dimensions):
                return False
            part = lines[start : start + TEXTS_AT_ONCE]
            vectors = await self._embed([text for _, text in part])
            await self._put(device, identity, part, vectors, gap)
            if not self._is_keeper():
                return False
            self._done_in_gap = start + len(part)
        position.close_gap(gap)
        self._done_in_gap = 0
        if lines:  # else it is cheap to look again
            await asyncio.to_thread(write_position, self._values, device.name, position)
        return True

    async def _put(
        self,
        device: Device,
        identity: Identity,
        lines: Sequence[tuple[Change, str]],
        vectors: Sequence[Vector | None],
        gap: Gap,
    ) -> None:
        """Store vectors of lines that have not changed since."""
        stored = [
            StoredVector(change.log, change.seq, text_digest(text), vector)
            for (change, text), vector in zip(lines, vectors, strict=True)
            if vector is not None
        ]
        await asyncio.to_thread(self._vectors.put_vectors, device.name, identity, stored, gap[1])

    def _texts(self, device: Device, gap: Gap) -> list[tuple[Change, str]]:
        after, to = gap
        changes = [change for change in self._boards.changes(device.name, after, to - after) if change.version <= to]
        texts = [(change, self._text_of(device, change)) for change in reversed(changes) if change.line is not None]
        return [(change, text) for change, text in texts if text]

    async def _embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return vectors, None for texts that are refused alone, found by halving."""
        try:
            vectors = await self._embedder.embed(texts, "passage")
        except EmbedderRefused as refused:
            if refused.status not in TEXT_ERRORS:
                raise
            if len(texts) > 1:
                half = len(texts) // 2
                return await self._embed(texts[:half]) + await self._embed(texts[half:])
            await self._embedder.embed([_PROBE], "passage")  # raises unless this text is at fault
            self.refusal = f"a text was refused and is found by words only: {refused}"
            return [None]
        return list(vectors)
