"""The indexes of the boards that were searched last, within a bound of bytes."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Protocol
from weakref import WeakValueDictionary

from engram_host.companion.errors import StoreUnavailable, UnknownDevice
from engram_host.companion.search.indexes.index import OBJECT_BYTES, DeviceIndex
from engram_host.companion.search.tokenizer import Tokenizer
from engram_host.companion.types import Change, Device
from engram_host.companion.vector_types import Identity, StoredVector

MOST_BYTES = 256 << 20
"""Maximum bytes of all indexes: three boards of 100,000 turns."""

BYTES_OF_A_LINE = 750
"""About what a line takes in an index, most of it its vector."""

_CHANGES_AT_ONCE = 2000
_VECTORS_AT_ONCE = 1000


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


class IndexCache:
    """Gives indexes that are up to date. Calls may come from any thread; two that want one index wait for each other."""

    def __init__(self, store: IndexSource, most_bytes: int = MOST_BYTES):
        self._store = store
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._indexes: OrderedDict[str, DeviceIndex] = OrderedDict()
        self._bytes: dict[str, int] = {}
        self._loading: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
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
            self._drop(name)
            raise
        with self._lock:
            loading = self._loading.setdefault(name, threading.Lock())
        with loading:
            index = self._index(device)
            with index.lock:
                self._refresh(index, device, identity)
                size = index.nbytes
            self._mark_used(name, index, size)
        return index, device

    def make_ahead(self, devices: Iterable[Device], identity: Identity | None) -> None:
        """Make the indexes of boards, in this order, until there is no room for the next one. StoreUnavailable."""
        for device in devices:
            if self.nbytes + _expected_bytes(device) > self._most_bytes:
                return
            with suppress(UnknownDevice):  # erased meanwhile
                self.get(device.name, identity)

    def close(self) -> None:
        """Let what is being made end early, by StoreUnavailable."""
        self._is_closed = True

    @property
    def nbytes(self) -> int:
        """About the bytes of all indexes."""
        with self._lock:
            return sum(self._bytes.values())

    @property
    def board_names(self) -> list[str]:
        """The boards with an index, the one used longest ago first."""
        with self._lock:
            return list(self._indexes)

    def _drop(self, name: str) -> None:
        with self._lock:
            self._indexes.pop(name, None)
            self._bytes.pop(name, None)

    def _index(self, device: Device) -> DeviceIndex:
        """The index in memory, or a new one; others leave before that is filled, or both would be there for a while."""
        with self._lock:
            index = self._indexes.get(device.name)
            if index is None or not index.fits(device) or index.is_worn:
                index = self._indexes[device.name] = DeviceIndex(device, self._words)
                self._indexes.move_to_end(device.name)
                self._bytes[device.name] = _expected_bytes(device)
                self._evict_oldest()
        return index

    def _refresh(self, index: DeviceIndex, device: Device, identity: Identity | None) -> None:
        is_new = not index.version
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
        total = sum(self._bytes.values())
        while len(self._indexes) > 1 and total > self._most_bytes:
            gone, _ = self._indexes.popitem(last=False)
            total -= self._bytes.pop(gone)


def _expected_bytes(device: Device) -> int:
    return OBJECT_BYTES + BYTES_OF_A_LINE * sum(device.have.values())
