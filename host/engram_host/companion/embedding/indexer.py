"""Keeps the index: embeds lines without a vector of the current identity, in the background.

Progress is by versions: a note per board has those that are done (see IndexPosition), so that work resumes after a restart,
the newest lines come first, and memory holds one window of lines. A repeated vector replaces the first one, so a kill costs
work but never a vector.

When the identity changes, searches use words only until all lines have new vectors; then the old ones are dropped. Of
several companions on one database, the one with the lease keeps the index, and the others follow its notes.
"""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engram_host.companion.embedding.embedder import TEXT_ERRORS, Embedder
from engram_host.companion.embedding.index_state import (
    LEASE,
    Gap,
    IndexPosition,
    IndexState,
    read_index,
    read_position,
    write_index,
    write_position,
)
from engram_host.companion.errors import EmbedderError, EmbedderRefused, StoreUnavailable
from engram_host.companion.processes.leases import Lease
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.values import ValueTable
from engram_host.companion.store.vectors import VectorTable
from engram_host.companion.types import Change, Device
from engram_host.companion.vector_types import Identity, StoredVector, Vector, text_digest

if TYPE_CHECKING:  # loads an HTTP client, which a local embedder does not need
    from engram_host.companion.embedding.batch import BatchJobs

_log = logging.getLogger("engram.embedding")

TextOf = Callable[[Device, Change], str]

WINDOW = 2000
"""Versions per round: bounds the lines in memory to 8 MB."""

JOB_WINDOW = 5000
"""Versions per batch job: bounds the lines in memory to 20 MB, and vectors."""

TEXTS_AT_ONCE = 256
"""Texts per call: bounds the loss by a kill, and the delay of a change of identity."""

_POLL_SECONDS = 10.0
"""Seconds between looks for lines that another companion received."""

_FIRST_WAIT_SECONDS = 1.0
_MOST_WAIT_SECONDS = 300.0

_PROBE = "ready"


@dataclass(frozen=True)
class IndexProgress:
    """Progress of the index; `total` counts changed lines, `embedded` texts since the start."""

    done: int
    total: int
    embedded: int
    refused: int
    per_second: float


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
        jobs: "BatchJobs | None" = None,
        jobs_least: int = 2000,
        failed: Callable[[], None] = lambda: None,
        lease: Lease | None = None,
    ):
        """Gaps from `jobs_least` versions on go to `jobs`; without a `lease` no other process indexes."""
        self._boards = boards
        self._values = values
        self._vectors = vectors
        self._embedder = embedder
        self._text_of = text_of
        self._key_version = key_version
        self._jobs = jobs
        self._jobs_least = jobs_least
        self._failed = failed
        self._job: asyncio.Task[None] | None = None
        self._job_identity: Identity | None = None
        self._awake = asyncio.Event()
        self._lease = lease or Lease(LEASE)
        self._lease.on_change = self._awake.set
        self._whole: Identity | None = None
        self._positions: dict[str, IndexPosition] = {}
        self._total = 0
        self._embedded = 0
        self._refused = 0
        self._per_second = 0.0
        self.is_starting = True
        """True while the embedder is loaded for the first time."""
        self.paused = "the embedder is starting: searches go by words only until it has."
        self.trouble = ""
        self.refusal = ""

    @property
    def identity(self) -> Identity | None:
        return self._whole

    @property
    def progress(self) -> IndexProgress:
        left = sum(position.versions_left for position in self._positions.values())
        return IndexProgress(max(0, self._total - left), self._total, self._embedded, self._refused, self._per_second)

    def wake(self) -> None:
        self._awake.set()

    async def run(self) -> None:
        """Work until cancelled or an unknown error; known errors are kept in `trouble` and retried."""
        failures = 0
        while True:
            self._awake.clear()
            try:
                has_worked = await self.run_round()
            except (EmbedderError, StoreUnavailable) as error:
                self.trouble = str(error)
                self.is_starting = False
                if isinstance(error, EmbedderError):
                    self._failed()
                wait = min(_MOST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2 ** min(failures, 16))
                failures += 1
                await asyncio.sleep(wait * random.uniform(0.8, 1.0))
                continue
            failures = 0
            self.trouble = ""
            if not has_worked:
                await self._wait()

    async def run_round(self) -> bool:
        """Embed a window of each board; True if there was any. Raises EmbedderError, StoreUnavailable."""
        try:
            await self._embedder.ready()
        except EmbedderError as error:
            if self._whole is None:
                self.paused = f"{str(error).rstrip('.')}: searches go by words only."
            raise
        identity = Identity(self._embedder.model, self._embedder.dimensions, self._key_version)
        is_keeper = self._is_keeper()
        index = await asyncio.to_thread(read_index, self._values)
        if is_keeper and index.made != identity:
            index = await self._begin_index(identity, index)
        self._follow(identity, index)
        self.is_starting = False
        if not is_keeper:
            await self._drop_ended_job(identity)
            await self._end_job()  # the lease's new holder resumes it from its notes
            return False
        devices = await asyncio.to_thread(self._boards.sources)
        self._positions = await asyncio.to_thread(self._read_positions, devices, identity)
        self._total = sum(device.version for device in devices)  # not earlier, or everything would seem done
        await self._drop_ended_job(identity)
        has_worked = False
        for device in devices:
            position = self._positions[device.name]
            if position.gaps and not self._is_for_jobs(device, identity, position):
                has_worked = True
                if not await self._close_gap(device, identity, position):
                    return True
        if index.replaces and not any(position.open for position in self._positions.values()):
            await asyncio.to_thread(self._vectors.drop_vectors, identity)
            await asyncio.to_thread(write_index, self._values, identity, "")
            self._follow(identity, IndexState(identity))
        return has_worked

    async def _wait(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_POLL_SECONDS):
                await self._awake.wait()

    async def stop(self) -> None:
        """Release the lease, after run() was cancelled; batch jobs can be resumed."""
        await self._end_job()
        self._lease.release()

    def _is_keeper(self) -> bool:
        self._lease.claim()
        if not self._lease.is_held:
            self._positions = {}  # the new holder continues them
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

    def _follow(self, identity: Identity, index: IndexState) -> None:
        if index.made == identity and not index.replaces:
            self._whole, self.paused = identity, ""
        elif index.made == identity:
            self._whole = None
            self.paused = (
                f"vectors are being rebuilt with {identity} in place of {index.replaces}: "
                "searches go by words only until that is done."
            )
        else:
            self._whole = None
            made = index.made or "nothing yet"
            self.paused = (
                f"the index is made with {made}, and this companion has {identity}: searches go by words only."
            )

    async def _close_gap(self, device: Device, identity: Identity, position: IndexPosition) -> bool:
        """Embed the newest gap; False if the embedder changed meanwhile."""
        gap = position.newest_gap(WINDOW)
        lines = await asyncio.to_thread(self._texts, device, gap)
        for start in range(0, len(lines), TEXTS_AT_ONCE):
            if (self._embedder.model, self._embedder.dimensions) != (identity.model, identity.dimensions):
                return False
            part = lines[start : start + TEXTS_AT_ONCE]
            began = time.monotonic()
            vectors = await self._embed([text for _, text in part])
            count = await self._put(device, identity, part, vectors, gap)
            self._count(count, time.monotonic() - began)
            if not self._is_keeper():
                return False
        position.close_gap(gap)
        if lines:  # else it is cheap to look again
            await asyncio.to_thread(write_position, self._values, device.name, position)
        return True

    def _is_for_jobs(self, device: Device, identity: Identity, position: IndexPosition) -> bool:
        """True if a batch job has the newest gap; begins one if none is pending."""
        start, end = position.gaps[-1]
        if self._jobs is None or self._jobs.model != identity.model or end - start < self._jobs_least:
            return False
        if self._job is None:
            gap = position.newest_gap(JOB_WINDOW)
            position.reserve_gap(gap)
            self._job_identity = identity
            self._job = asyncio.create_task(self._by_job(self._jobs, device, identity, position, gap))
            self._job.add_done_callback(lambda _: self._awake.set())
        return True

    async def _by_job(
        self, jobs: "BatchJobs", device: Device, identity: Identity, position: IndexPosition, gap: Gap
    ) -> None:
        """Close a gap by a batch job, which may take a day."""
        try:
            lines = await asyncio.to_thread(self._texts, device, gap)
            known = await asyncio.to_thread(self._vectors.cached, identity, [text_digest(text) for _, text in lines])
            new = list(dict.fromkeys(text for _, text in lines if text_digest(text) not in known))
            answers = dict(zip(new, await jobs.embed_many(f"{device.name}.{identity}", new), strict=True))
            vectors = [self._answered(known.get(text_digest(text), answers.get(text))) for _, text in lines]
            self._embedded += await self._put(device, identity, lines, vectors, gap)
        except BaseException:
            position.release_gaps()
            raise
        position.lent = None
        if self._positions.get(device.name) is position:
            await asyncio.to_thread(write_position, self._values, device.name, position)

    def _answered(self, answer: Vector | EmbedderRefused | None) -> Vector | None:
        if isinstance(answer, EmbedderRefused):
            self._tell_refused(answer)
            return None
        return answer

    def _tell_refused(self, refused: EmbedderRefused) -> None:
        self._refused += 1
        self.refusal = f"a text was refused and is found by words only: {refused}"

    async def _drop_ended_job(self, identity: Identity) -> None:
        """Drop a finished job or one of another identity; raises its error."""
        job = self._job
        if job is not None and self._job_identity != identity:
            await self._end_job()
        elif job is not None and job.done():
            self._job = None
            if job.cancelled():
                _log.warning("the wait for a batch job was interrupted; the job is taken up again")
            else:
                job.result()

    async def _end_job(self) -> None:
        if self._job is not None:
            self._job.cancel()
            await asyncio.gather(self._job, return_exceptions=True)
            self._job = None

    async def _put(
        self,
        device: Device,
        identity: Identity,
        lines: Sequence[tuple[Change, str]],
        vectors: Sequence[Vector | None],
        gap: Gap,
    ) -> int:
        """Store vectors of lines that have not changed since; return their number."""
        stored = [
            StoredVector(change.log, change.seq, text_digest(text), vector)
            for (change, text), vector in zip(lines, vectors, strict=True)
            if vector is not None
        ]
        await asyncio.to_thread(self._vectors.put_vectors, device.name, identity, stored, gap[1])
        return len(stored)

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
            self._tell_refused(refused)
            return [None]
        return list(vectors)

    def _count(self, texts: int, seconds: float) -> None:
        self._embedded += texts
        if texts:
            now = texts / max(seconds, 1e-6)
            self._per_second = (now + self._per_second) / 2 if self._per_second else now
