"""No fault lets the background write the flash without end: a few tries, then one sentence; what there is stays readable."""

import os
import random

from engram import diag, text
from engram.compat import finish
from engram.store.index.merge import Merge
from engram.store.index.table import Table, TableDamaged
from engram.store.index.table_writer import TableWriter
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import Entry, Query
from support import StatelessSchema, folder, rounds

LINES = rounds(100, 60)
IDLE_TICKS = 60

WORDS = ("apple", "boat", "cedar", "delta", "ember", "flint", "grove", "harbor")


class Lines(StatelessSchema):
    def describe(self, line):
        return Entry(line["seq"], text.terms(line["text"]), ("#" + line["tag"],), 0, 0, (), (), 0, False)


class patched:
    """`with patched(Class, name, function)`: a method is replaced while the block runs."""

    def __init__(self, owner, name, function):
        self.owner, self.name, self.function = owner, name, function

    def __enter__(self):
        self.before = getattr(self.owner, self.name)
        setattr(self.owner, self.name, self.function)

    def __exit__(self, kind, error, trace):
        setattr(self.owner, self.name, self.before)


class Written:
    """Counts the tables that are begun."""

    def __init__(self):
        self.count = 0
        begin = TableWriter.__init__

        def begin_counted(writer, path, terms):
            self.count += 1
            begin(writer, path, terms)

        self._patch = patched(TableWriter, "__init__", begin_counted)

    def __enter__(self):
        self._patch.__enter__()
        return self

    def __exit__(self, kind, error, trace):
        self._patch.__exit__(kind, error, trace)


def _store(place=None):
    store = Store(Log(place or folder(), "log", segment_bytes=2000), Lines())
    store.open()
    return store


def _fill(store, count=LINES):
    random.seed(31)
    for number in range(count):
        store.append([("text", "%s number%d" % (random.choice(WORDS), number)), ("tag", "tag%d" % (number % 7))])


def _lose_index(store):
    """Take the index off the flash, so that all of it has to be built again."""
    place = store.log.folder
    store.close()
    for name in os.listdir(place):
        if name.endswith(".index") or ".x" in name:
            os.remove(place + "/" + name)
    return _store(place)


def _idle(store, ticks=IDLE_TICKS):
    """Let the background run, without its pauses, while a person looks at what there is."""
    for number in range(ticks):
        store.upkeep.retry_in = min(1, store.upkeep.retry_in)
        try:
            store.tick(may_seal=True)
        except MemoryError:
            pass  # the app goes on after it
        if number % 24 == 0:
            _look(store)


def _look(store):
    assert all(name[0] == "#" for name in store.names("#"))
    assert len(list(store.search(Query(("apple", "number3"), (), (), 0, 0, "", None, True), 5))) <= 5
    assert sum(1 for _ in store.newest()) == store.next_seq - store.log.oldest


class bounded:
    """While a fault lasts the background writes a few tables, tells once that this ends, and then writes no more."""

    def __init__(self, store, most):
        self.store, self.most = store, most

    def __enter__(self):
        self.errors = diag.errors
        self.written = Written()
        self.written.__enter__()

    def __exit__(self, kind, error, trace):
        if error is not None:
            self.written.__exit__(kind, error, trace)
            return
        _idle(self.store)
        count = self.written.count
        assert count <= self.most, count
        _idle(self.store)
        self.written.__exit__(kind, error, trace)
        assert self.written.count == count
        assert diag.errors == self.errors + 1


def _fail(error):
    def fail(*_):
        raise error

    return fail


def _damage(*_):
    raise TableDamaged("it does not read back")


# --- tables that do not read back


def test_tables_whose_names_do_not_read_back_are_rebuilt_a_few_times_only():
    store = _store()
    with patched(Table, "names", _damage):
        with bounded(store, 40):
            _fill(store)
        assert "lines are not in the index" in store.partial and "restart" in store.partial
        with Written() as written:
            finish(store.compacting(lambda line: True))
            _idle(store)
        assert written.count <= 1, "what is in RAM is sealed for it"
    _check_restart(store)


def _check_restart(store):
    """After a restart all is whole, now that the fault has gone."""
    store.close()
    store = _store(store.log.folder)
    _idle(store)
    assert not store.partial and len(list(store.names("#"))) == 7
    store.close()


def test_tables_that_cannot_be_opened_after_they_were_written_are_written_a_few_times_only():
    store = _store()
    _fill(store)
    store = _lose_index(store)
    with patched(Table, "_open", _damage), bounded(store, 8):
        pass
    _check_restart(store)


def test_merges_that_do_not_read_back_end_and_what_was_to_be_merged_stays_found():
    store = _store()
    with patched(Merge, "take_over_dead", _damage):
        with bounded(store, 40):
            _fill(store, 100)
        assert not store.partial
        found = list(store.search(Query(("number3",), (), (), 0, 0, "", None, True), 5))
        assert [hit.number for hit in found] == [4]


# --- a flash or a heap that has no room


class FailsLater:
    """The writes of tables of which those after the first `left` fail with an error."""

    def __init__(self, left, error):
        self.left, self.error = left, error
        write = TableWriter.write

        def write_some(writer, data):
            self.left -= 1
            if self.left < 0:
                raise self.error
            write(writer, data)

        self.write = write_some


def _try_each_write(error):
    """Let each write of a table from the Nth on fail with an error, for each N up to all of them."""
    step = 1
    while True:
        store = _store()
        _fill(store, 64)
        store = _lose_index(store)
        fails = FailsLater(step, error)
        errors = diag.errors
        with patched(TableWriter, "write", fails.write), Written() as written:
            _idle(store)
            if fails.left >= 0:
                assert step > 50 and not store.partial and diag.errors == errors
                return
            first = written.count
            _idle(store)
            assert written.count == first < 40 and diag.errors == errors + 1
        store.upkeep.retry()
        _idle(store)
        assert not store.partial
        store.close()
        step += rounds(29, 400)


def test_a_full_flash_is_tried_a_few_times_only_and_again_once_there_is_room():
    _try_each_write(OSError(28, "full"))


def test_a_segment_that_leaves_gives_the_index_room_to_try_again():
    store = _store()
    _fill(store)
    store = _lose_index(store)
    with patched(TableWriter, "write", _fail(OSError(28, "full"))):
        _idle(store)
    assert store.partial and "flash is full" in store.partial
    assert store.drop_oldest()
    _idle(store)
    assert not store.partial


# --- damage in the log itself


def test_damage_that_comes_again_however_often_it_is_taken_out_is_passed_over():
    store = _store()
    _fill(store)
    number = store.log.sealed[0][0]
    path = store.log.path(number)
    with open(path, "rb") as file:
        raw = file.read()
    repair = store.log.repair
    mends = [0]

    def mend_in_vain(path):
        mends[0] += 1
        with open(path, "wb") as file:
            file.write(raw.replace(b"apple", b"bpple"))

    repair.mend = mend_in_vain
    mend_in_vain(path)
    store.log.close_sealed(number)
    for _ in range(40):
        list(store.log.scan(number, 0))
    assert mends[0] < 12
    assert sum(1 for _ in store.lines_backwards()) < LINES
