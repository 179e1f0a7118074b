"""The labels that are kept as they are: "#tag", "%speaker" and "@scope", each once."""

from engram.store.index.table import TableDamaged


def beginning(store, prefix: str):
    """See Store.names."""
    index = store.index
    for name in in_order([iter(index.memtable.names())] + [_names_of(index, table) for table in index.tables]):
        if name.startswith(prefix):
            yield name


def _names_of(index, table):
    try:
        yield from table.names()
    except (TableDamaged, OSError, ValueError, IndexError) as error:
        index.lose(table, error)


def in_order(lists: list):
    """Yield what several ordered lists (iterators) yield, in order, each thing once."""
    heads: list = [(next(names, None), names) for names in lists]
    last = None
    while True:
        heads = [head for head in heads if head[0] is not None]
        if not heads:
            return
        least = min(head[0] for head in heads)
        if least != last:
            last = least
            yield least
        heads = [(next(names, None) if name == least else name, names) for name, names in heads]
