"""Lists and counts the live entries of a store, lists labels, and walks along threads.

The index knows a label by 21 bits of its crc32. If another scope shares them, all lines are read, so that no
query reveals others' data.
"""

from engram.store.index import codec
from engram.store.index.table import TableDamaged
from engram.store.log.seq_seek import lines_backwards
from engram.store.search import filters
from engram.store.types import LIVE, passes


def newest(store, labels=(), scopes=()):
    """Yield live lines with all `labels` and one of `scopes`, newest first; later changes are not seen."""
    store.entry_states.settle()
    below = store.log.next_seq
    while below > 0:
        parts = store.index.all_tables() + store.upkeep.unindexed
        newest = max(parts, key=lambda part: _last_below(store, part, below))
        if _last_below(store, newest, below) <= 0:
            return
        if isinstance(newest, list):
            below = yield from _newest_unindexed(store, newest[0], below, labels, scopes)
        else:
            below = yield from _newest_in(store, newest, below, labels, scopes)


def _last_below(store, part, below: int) -> int:
    """Return the last possible seq below one in a table, an unindexed span or RAM."""
    if part is store.index.memtable:
        first, last = store.upkeep.tail[2], store.log.next_seq - 1
    elif isinstance(part, list):
        first, last = part
    else:
        first, last = part.first, part.last
    return min(last, below - 1) if first < below else 0


def _newest_in(store, table, below: int, labels, scopes):
    """Yield one table's lines like newest(); return the seq at which it ends."""
    index = store.index
    is_in_ram, tail = table is index.memtable, store.upkeep.tail[2]
    allowed = filters.allowed(index, labels, scopes, 0, 0)
    bits = allowed(table) if allowed else None
    for row in range(table.rows - 1, -1, -1):
        if codec.has_bit(table.dead, row) or (bits is not None and not codec.has_bit(bits, row)):
            continue
        seq = index.locate(table, row)[0]
        line = store.entry_states.live_line(table, row) if 0 < seq < below else None
        if line is not None and passes(store.describe(line), labels, scopes):
            yield line
            below = seq
            store.ready()
            # Sealed or merged meanwhile: its rows are elsewhere now.
            if tail != store.upkeep.tail[2] if is_in_ram else table not in index.tables:
                return below
    return tail if is_in_ram else table.first


def _newest_unindexed(store, first: int, below: int, labels, scopes):
    for line in lines_backwards(store.log, below):
        seq = line["seq"]
        if seq < first:
            break
        entry = store.describe(line)
        if entry.number < 0 or not passes(entry, labels, scopes):
            continue
        state, latest = store.entry_states.state_of(entry.number)
        if state == LIVE and latest["seq"] == seq:
            yield line
    return first


def labels(store, prefix: str, scopes=()):
    """Yield (label, live entries in the scopes) of labels with a prefix, unordered."""
    store.entry_states.settle()
    index = store.index
    counts = {}
    if _is_shared(store, scopes):
        for line in newest(store, (), scopes):
            for name in store.describe(line).labels:
                if name.startswith(prefix):
                    counts[name] = counts.get(name, 0) + 1
        yield from counts.items()
        return
    allowed = filters.allowed(index, (), scopes, 0, 0)
    known = list(store.names(prefix))
    for table in index.all_tables():
        bits = allowed(table) if allowed else None
        for name in known:
            rows = filters.rows_with_label(index, table, codec.term_hash(name))
            counts[name] = counts.get(name, 0) + filters.counted(table, filters.common(bits, rows))
    for name, count in counts.items():
        if count:
            yield name, count


def count(store, labels=(), scopes=()) -> int:
    """Return the number of live entries with all `labels` and one of `scopes`."""
    store.entry_states.settle()
    index = store.index
    if _is_shared(store, scopes):
        return sum(1 for _ in newest(store, labels, scopes))
    allowed = filters.allowed(index, labels, scopes, 0, 0)
    return sum(filters.counted(table, allowed(table) if allowed else None) for table in index.all_tables())


def is_used(store, label: str, scopes) -> bool:
    """True if a live entry of `scopes` has the label, judged by hashes."""
    store.entry_states.settle()
    index = store.index
    allowed = filters.allowed(index, (label,), scopes, 0, 0)
    return any(filters.counted(table, allowed(table)) for table in index.all_tables())  # pyright: ignore


def _is_shared(store, scopes) -> bool:
    """True if another scope shares the hash of a wanted one."""
    hashes = [codec.term_hash(scope) for scope in scopes]
    return any(name not in scopes and codec.term_hash(name) in hashes for name in store.names("@"))


# --- names


def names(store, prefix: str):
    """Yield labels of "#tag", "%speaker" and "@scope" with a prefix, unordered."""
    store.ready()
    index = store.index
    for name in codec.merged([iter(index.memtable.names())] + [_names_of(index, table) for table in index.tables]):
        if name.startswith(prefix):
            yield name


def _names_of(index, table):
    try:
        yield from table.names()
    except (TableDamaged, OSError, ValueError, IndexError) as error:
        index.lose(table, error)


# --- threads


def thread(store, session: int):
    """Yield a thread's indexed seqs, newest first."""
    store.ready()
    index = store.index
    memtable = index.memtable
    for row in range(memtable.rows - 1, -1, -1):
        if memtable.sessions[row] == session:
            yield memtable.seqs[row]
    for table in index.tables[::-1]:
        run = index.guarded(table, table.run, session)
        for row in range(run[1] - 1, run[0] - 1, -1) if run else ():
            seq = index.locate(table, row)[0]
            if 0 < seq < store.log.oldest:
                return
            if seq:
                yield seq
