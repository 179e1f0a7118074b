"""Sealing a segment takes several steps: whichever of them the flash refuses, all lines stay, and later ones come."""

from engram import files
from engram.compat import finish
from engram.errors import StoreError
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import Entry
from support import StatelessSchema, folder, raises


class _Refusing:
    """Lets a flash refuse to rename a path that ends in some way, so many times."""

    def __init__(self, ending, times):
        self._ending = ending
        self._times = times
        self._rename = files.rename

    def __enter__(self):
        files.rename = self._refuse

    def __exit__(self, *_):
        files.rename = self._rename

    def _refuse(self, path, new):
        if path.endswith(self._ending) and self._times:
            self._times -= 1
            raise StoreError("the flash refuses")
        self._rename(path, new)


class _Words(StatelessSchema):
    """Every line is an entry of one word."""

    def describe(self, line):
        return Entry(line["seq"], (line["text"],), (), 0, 0, (), (), 0, False)


def _store():
    store = Store(Log(folder(), "log", segment_bytes=2000), _Words())
    store.open()
    store.append([("text", "one")], [("text", "two")])
    return store


def _texts(store):
    return [line["text"] for line in store.lines_backwards()][::-1]


def _goes_on(store):
    """Whether all lines are there, and new ones come, also after a restart."""
    store.append([("text", "three")])
    here = _texts(store)
    store.open()
    store.append([("text", "four")])
    return here == ["one", "two", "three"] and _texts(store) == ["one", "two", "three", "four"]


def test_a_segment_that_keeps_its_name_stays_the_live_one():
    store = _store()
    with _Refusing(".jsonl", 1), raises(StoreError):
        finish(store.upkeep.sealing_segment())
    assert store.log.sealed == [] and _goes_on(store)


def test_a_new_segment_that_gets_no_name_gets_it_later():
    store = _store()
    with _Refusing(".next", 1), raises(StoreError):
        finish(store.upkeep.sealing_segment())
    assert len(store.log.sealed) == 1 and _goes_on(store)


def test_what_is_sealed_is_read_while_the_new_segment_has_no_name():
    store = _store()
    with _Refusing(".next", 9):
        with raises(StoreError):
            finish(store.upkeep.sealing_segment())
        assert store.line(2)["text"] == "two"
        with raises(StoreError):
            store.append([("text", "three")])
    assert _goes_on(store)


def test_a_restart_without_the_new_segments_name_finds_all_lines():
    store = _store()
    with _Refusing(".next", 1), raises(StoreError):
        finish(store.upkeep.sealing_segment())
    store.open()
    assert _texts(store) == ["one", "two"] and _goes_on(store)
