"""Walks along a thread: the lines of one session, as far as they are in the index."""


def backwards(store, session: int):
    """See Store.thread."""
    index = store.index
    live = index.memtable
    for row in range(len(live) - 1, -1, -1):
        if live.sessions[row] == session:
            yield live.seqs[row]
    for table in index.tables[::-1]:
        run = index.guarded(table, table.run, session)
        for row in range(run[1] - 1, run[0] - 1, -1) if run else ():
            seq = index.locate(table, row)[0]
            if seq:
                yield seq


def following(store, session: int, seq: int):
    """See Store.following."""
    index = store.index
    for table in list(index.tables):
        run = index.guarded(table, table.run, session) if table.last > seq else None
        if run is None:
            continue
        low, high = run
        while low < high:
            middle = (low + high) >> 1
            if index.locate(table, middle)[0] <= seq:
                low = middle + 1
            else:
                high = middle
        for row in range(low, run[1]):
            yield index.locate(table, row)[0]
    live = index.memtable
    for row in range(len(live)):
        if live.sessions[row] == session and live.seqs[row] > seq:
            yield live.seqs[row]
