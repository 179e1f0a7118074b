"""An LRU cache of board indexes, bounded in bytes."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from weakref import WeakValueDictionary

from engram_host.companion.errors import StoreUnavailable, UnknownDevice
from engram_host.companion.search.index import OBJECT_BYTES, DeviceIndex
from engram_host.companion.search.tokenizer import Tokenizer
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.vectors import Identity, VectorTable
from engram_host.companion.types import Device

MOST_BYTES = 256 << 20

BYTES_OF_A_LINE = 750

_CHANGES_AT_ONCE = 2000
_VECTORS_AT_ONCE = 1000


class IndexCache:
    """A thread-safe cache of current indexes; two callers of one index wait for each other."""

    def __init__(self, boards: BoardTable, vectors: VectorTable, most_bytes: int = MOST_BYTES):
        self._boards = boards
        self._vectors = vectors
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._indexes: OrderedDict[str, DeviceIndex] = OrderedDict()
        self._bytes: dict[str, int] = {}
        self._loading: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._words = Tokenizer()
        self._asked: Counter[str] = Counter()
        """Boards whose indexes searches wait for."""
        self._turn = threading.Condition()
        self._is_closed = False

    def get(self, name: str, identity: Identity | None) -> tuple[DeviceIndex, Device]:
        """Return a board's current index and the board; lock the index before use."""
        try:
            device = self._boards.device(name)
        except UnknownDevice:
            self.drop(name)
            raise
        return self.of_device(device, identity), device

    def of_device(self, device: Device, identity: Identity | None) -> DeviceIndex:
        """Return the current index of a board; lock it before use."""
        with self._turn:
            self._asked[device.name] += 1
        try:
            return self._get(device, identity)
        finally:
            with self._turn:
                self._asked[device.name] -= 1
                self._asked += Counter()  # drops zeros
                self._turn.notify_all()

    def make_ahead(self, devices: Iterable[Device], identity: Identity | None) -> None:
        """Make indexes while there is room, and give way to searches."""
        for device in devices:
            if self.nbytes + _expected_bytes(device) > self._most_bytes:
                return
            with suppress(UnknownDevice):  # erased meanwhile
                self._get(self._boards.device(device.name), identity, is_ahead=True)

    def _get(self, device: Device, identity: Identity | None, *, is_ahead: bool = False) -> DeviceIndex:
        self._check_open()
        with self._lock:
            loading = self._loading.setdefault(device.name, threading.Lock())
        with loading:
            index = self._index(device)
            with index.lock:
                self._refresh(index, device, identity, is_ahead=is_ahead)
                size = index.nbytes
            self._mark_used(device.name, index, size)
        return index

    def _give_way(self, name: str) -> None:
        with self._turn:
            self._turn.wait_for(lambda: not self._asked or name in self._asked)

    def close(self) -> None:
        """Abort builds in progress by StoreUnavailable."""
        self._is_closed = True

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(self._bytes.values())

    @property
    def board_names(self) -> list[str]:
        with self._lock:
            return list(self._indexes)

    def drop(self, name: str) -> None:
        with self._lock:
            self._indexes.pop(name, None)
            self._bytes.pop(name, None)

    def _index(self, device: Device) -> DeviceIndex:
        with self._lock:
            index = self._indexes.get(device.name)
            if index is None or not index.fits(device) or index.is_worn:
                index = self._indexes[device.name] = DeviceIndex(device, self._words)
                self._indexes.move_to_end(device.name)
                self._bytes[device.name] = _expected_bytes(device)
                self._evict_oldest()
        return index

    def _refresh(self, index: DeviceIndex, device: Device, identity: Identity | None, *, is_ahead: bool) -> None:
        is_new = not index.version
        while index.version < device.version:
            self._check_open()
            if is_ahead:
                self._give_way(device.name)
            changes = self._boards.changes(device.name, index.version, _CHANGES_AT_ONCE)
            index.apply(changes)
            if len(changes) < _CHANGES_AT_ONCE:
                # The last change may be gone with its line, so the board's version counts.
                index.version = max(index.version, device.version)
        if is_new:
            index.postings.fold()
        if identity is None:
            return  # no query vector this time; the next query may use them
        index.use_identity(identity)
        while index.vectors_seen < device.version:
            self._check_open()
            if is_ahead:
                self._give_way(device.name)
            vectors = self._vectors.vectors(device.name, identity, index.vector_version, _VECTORS_AT_ONCE)
            index.apply_vectors(vectors)
            if len(vectors) < _VECTORS_AT_ONCE:
                index.vectors_seen = device.version  # each vector is a change of its board

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailable("the companion is being stopped.")

    def _mark_used(self, name: str, index: DeviceIndex, size: int) -> None:
        with self._lock:
            if self._indexes.get(name) is not index:
                return
            self._indexes.move_to_end(name)
            self._bytes[name] = size
            self._evict_oldest()

    def _evict_oldest(self) -> None:
        total = sum(self._bytes.values())
        while len(self._indexes) > 1 and total > self._most_bytes:
            gone, _ = self._indexes.popitem(last=False)
            total -= self._bytes.pop(gone)


def _expected_bytes(device: Device) -> int:
    return OBJECT_BYTES + BYTES_OF_A_LINE * sum(device.have.values())
