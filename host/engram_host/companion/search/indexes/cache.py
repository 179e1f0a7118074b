"""The indexes of the boards that were searched last, within a bound of bytes, and the files that they are opened from."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Protocol
from weakref import WeakValueDictionary

from engram_host.companion.errors import StoreUnavailable, UnknownDevice
from engram_host.companion.search.indexes.index import DeviceIndex
from engram_host.companion.search.indexes.kept import KeptIndexes, make_image
from engram_host.companion.search.indexes.malloc import trim_malloc
from engram_host.companion.search.tokenizer import Tokenizer
from engram_host.companion.types import Change, Device, LogName
from engram_host.companion.vector_types import Identity, StoredVector, VectorRows

MOST_BYTES = 256 << 20
"""What the indexes may take together in memory: three boards of 100,000 turns that are not in files yet, or some hundred that
are."""

MOST_INDEXES = 16_384
"""And how many there may be: each that is mapped takes one of the 65,530 maps that Linux gives a process."""

BYTES_OF_A_LINE = 750
"""About what a line takes in an index until that is opened from a file, most of it its vector."""

LEAST_KEPT = 250
"""Lines of a board that has a file: of fewer an index is made in some milliseconds."""

_UNKEPT_SHARE = 50
"""A file is written again once a 50th of its lines came since; opening one reads these from the database."""

_MOST_HEALED = 2000
"""Lines without a vector that are asked for once a file was opened; there are more only while all get theirs by version."""

_CHANGES_AT_ONCE = 2000
_VECTORS_AT_ONCE = 1000

_log = logging.getLogger("engram.searching")


class IndexSource(Protocol):
    """What indexes are made from: all is numbered by version, so that each asks only for what is new."""

    def device(self, name: str) -> Device:
        """One board as it is now; UnknownDevice."""
        ...

    def changes(self, device: str, after: int, limit: int) -> Sequence[Change]:
        """The lines that changed since a version, oldest first."""
        ...

    def vectors(self, device: str, identity: Identity, after: int, limit: int) -> Sequence[tuple[int, StoredVector]]:
        """The vectors that came since a version, oldest first, each with its version."""
        ...

    def vectors_at(
        self, identity: Identity, wanted: Mapping[tuple[str, LogName, int], Sequence[int]]
    ) -> Mapping[tuple[str, LogName, int], VectorRows]:
        """The vectors of some lines, by (board, log, epoch) and seq."""
        ...

    def has_gone_since(self, device: str, after: int) -> bool:
        """Whether lines have left the copies of a board since a version."""
        ...


class _Loading:
    """Held by whoever brings one board's index up to date: of several who ask for it one does the work.

    It is there as long as somebody holds it or waits for it, so only it itself may be held: a caller with nothing but its
    lock would leave the next one another lock.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


class IndexCache:
    """Gives indexes that are up to date. Calls may come from any thread; two that want one index wait for each other."""

    def __init__(self, store: IndexSource, most_bytes: int = MOST_BYTES, kept: KeptIndexes | None = None):
        """`kept` has the files of indexes; without it there are none."""
        self._store = store
        self._most_bytes = most_bytes
        self._kept = kept
        self._lock = threading.Lock()
        self._indexes: OrderedDict[str, DeviceIndex] = OrderedDict()
        self._bytes: dict[str, int] = {}
        self._loading: WeakValueDictionary[str, _Loading] = WeakValueDictionary()
        self._saving: dict[str, Future[None]] = {}
        self._writer = ThreadPoolExecutor(1, "index-files")
        self._words = Tokenizer()
        self._is_closed = False

    def get(self, name: str, identity: Identity | None) -> tuple[DeviceIndex, Device]:
        """The index of a board, and the board as it was then; its vectors are those of `identity`, unless that is None.

        UnknownDevice, StoreUnavailable. Take the index's lock before looking into it: another thread may bring it further.
        """
        self._check_open()
        try:
            device = self._store.device(name)
        except UnknownDevice:
            self._drop(name)  # a board that was erased leaves the memory and the disk, too
            raise
        return self.get_known(device, identity), device

    def get_known(self, device: Device, identity: Identity | None) -> DeviceIndex:
        """As get(), for a board as it was read just now."""
        self._check_open()
        name = device.name
        with self._loading_of(name):
            index = self._index(device)
            with index.lock:
                self._refresh(index, device, identity)
                size = index.nbytes
            self._mark_used(name, index, size)
            self._keep_later(index, device)
        return index

    def close(self) -> None:
        """Let what is being made end early, by StoreUnavailable; files that are not begun yet are not written."""
        with self._lock:
            self._is_closed = True
        self._writer.shutdown(wait=False, cancel_futures=True)

    def wait_for_files(self) -> None:
        """Wait until what was to be kept in files is."""
        with self._lock:
            saving = list(self._saving.values())
        for each in saving:
            each.result()

    def sweep(self) -> None:
        """Bring files up to date whose boards have lost lines, and remove those of boards that are gone or were reset."""
        if self._kept is None:
            return
        for name in self._kept.names():
            self._check_open()
            try:
                device = self._store.device(name)
            except UnknownDevice:
                self._drop(name)
                continue
            facts = self._kept.facts(device)
            if facts and self._store.has_gone_since(name, facts["version"]):
                identity = Identity(*facts["identity"]) if facts["identity"] else None
                self._rewrite(device, identity)

    @property
    def has_files(self) -> bool:
        """Whether indexes are kept in files."""
        return self._kept is not None

    def folder_id(self) -> str:
        """What the folder of the files is called among workers; "" without files. OSError."""
        return self._kept.folder_id if self._kept else ""

    @property
    def nbytes(self) -> int:
        """About the bytes of all indexes in memory; those that are mapped from files are not among them."""
        with self._lock:
            return sum(self._bytes.values())

    @property
    def board_names(self) -> list[str]:
        """The boards with an index, the one used longest ago first."""
        with self._lock:
            return list(self._indexes)

    def _loading_of(self, name: str) -> _Loading:
        with self._lock:
            return self._loading.setdefault(name, _Loading())

    def _drop(self, name: str) -> None:
        with self._lock:
            self._indexes.pop(name, None)
            self._bytes.pop(name, None)
        if self._kept:
            self._kept.drop(name)

    def _index(self, device: Device) -> DeviceIndex:
        """The index in memory, one opened from a file, or a new one."""
        with self._lock:
            index = self._indexes.get(device.name)
        if index is not None and index.fits(device) and not index.is_worn:
            return index
        index = self._kept.open(device, self._words) if self._kept else None
        if index is None:
            index = DeviceIndex(device, self._words)
        self._put(index, 0 if index.version else BYTES_OF_A_LINE * sum(device.have.values()))
        return index

    def _put(self, index: DeviceIndex, size: int) -> None:
        """Keep an index in memory; others leave before it is filled, or both would be there for a while."""
        with self._lock:
            self._indexes[index.name] = index
            self._indexes.move_to_end(index.name)
            self._bytes[index.name] = size
            self._evict_oldest()

    def _refresh(self, index: DeviceIndex, device: Device, identity: Identity | None) -> None:
        is_new = not index.version
        rows = len(index.rows)
        while index.version < device.version:
            self._check_open()
            changes = self._store.changes(device.name, index.version, _CHANGES_AT_ONCE)
            index.apply(changes)
            if len(changes) < _CHANGES_AT_ONCE:
                # What changed last may have been replaced by an older line's going: the board's version counts.
                index.version = max(index.version, device.version)
        if is_new:
            index.postings.fold()
        if identity is None:
            return  # the query has no vector this time: those of the lines stay for the next one
        index.use_identity(identity)
        while index.vectors_seen < device.version:
            self._check_open()
            vectors = self._store.vectors(device.name, identity, index.vector_version, _VECTORS_AT_ONCE)
            index.apply_vectors(vectors)
            if len(vectors) < _VECTORS_AT_ONCE:
                index.vectors_seen = device.version  # each vector is a change of its board
        if index.is_from_file and (not index.is_healed or len(index.rows) > rows):
            self._heal(index, device, identity)

    def _heal(self, index: DeviceIndex, device: Device, identity: Identity) -> None:
        """Read the vectors that came before their lines did, which no file has: by version they do not come again."""
        index.is_healed = True
        lacking = index.seqs_without_vector()
        if not 0 < sum(map(len, lacking.values())) <= _MOST_HEALED:
            return
        wanted: dict[tuple[str, LogName, int], list[int]] = {
            (device.name, log, device.logs[log].epoch): seqs for log, seqs in lacking.items() if seqs
        }
        for (_, log, _), found in self._store.vectors_at(identity, wanted).items():
            of_log = zip(found.seqs.tolist(), found.digests, found.vectors, strict=True)
            index.apply_vectors([(0, StoredVector(log, seq, digest, vector)) for seq, digest, vector in of_log])

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailable("the companion is being stopped.")

    def _mark_used(self, name: str, index: DeviceIndex, size: int) -> None:
        """Note an index as the one used last, and evict those that have no room beside it."""
        with self._lock:
            if self._indexes.get(name) is not index:
                return
            self._indexes.move_to_end(name)
            self._bytes[name] = size
            self._evict_oldest()

    def _evict_oldest(self) -> None:
        """Evict those that were used longest ago, until the others have room; the newest stays in any case."""
        total, count = sum(self._bytes.values()), len(self._indexes)
        while len(self._indexes) > 1 and (total > self._most_bytes or len(self._indexes) > MOST_INDEXES):
            gone, _ = self._indexes.popitem(last=False)
            total -= self._bytes.pop(gone)
        if len(self._indexes) < count:
            trim_malloc()

    # --- files

    def _keep_later(self, index: DeviceIndex, device: Device) -> None:
        """Let an index be written into a file, if too much of it is in none, or the file has lines that are gone."""
        if self._kept is None or len(index.rows) < LEAST_KEPT:
            return
        if not index.has_dropped and index.unkept <= len(index.rows) // _UNKEPT_SHARE:
            return
        with self._lock:
            if not self._is_closed and device.name not in self._saving:
                self._saving[device.name] = self._writer.submit(self._keep, index, device)

    def _keep(self, index: DeviceIndex, device: Device) -> None:
        """Write an index into a file, and use that in its place: what is mapped needs no memory of its own."""
        kept = self._kept
        try:
            if kept is None or self._is_closed:
                return
            with index.lock:
                image, changes = make_image(index), index.changes
                index.unkept, index.has_dropped = 0, False
            if not kept.save(device, image):
                return
            del image
            with self._loading_of(device.name), index.lock:
                with self._lock:
                    is_used = self._indexes.get(device.name) is index and index.changes == changes
                opened = kept.open(device, self._words) if is_used else None
                if opened:
                    self._put(opened, opened.nbytes)
            trim_malloc()
        except StoreUnavailable as problem:
            _log.warning("the index of %s is not kept in a file: %s", device.name, problem)
        finally:
            with self._lock:
                self._saving.pop(device.name, None)

    def _rewrite(self, device: Device, identity: Identity | None) -> None:
        """Write a file again without the lines that have gone; the index does not take the place of another one in memory."""
        kept = self._kept
        if kept is None:
            return
        with self._loading_of(device.name):
            with self._lock:
                index = self._indexes.get(device.name)
            if index is None or not index.fits(device):
                index = kept.open(device, self._words)
            if index is None:
                return
            with index.lock:
                self._refresh(index, device, identity)
                image = make_image(index)
                index.unkept, index.has_dropped = 0, False
        # Searches of the board do not wait for the disk.
        if not kept.save(device, image):
            kept.drop(device.name)  # rather no file than one with what was forgotten
