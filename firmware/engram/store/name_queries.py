"""The labels that are kept as they are: "#tag", "%speaker" and "@scope", each once."""

from engram.store.index.table import TableDamaged, in_order


def beginning(store, prefix: str):
    """See Store.names."""
    index = store.index
    for name in in_order([iter(index.live.names())] + [_names_of(index, piece) for piece in index.pieces]):
        if name.startswith(prefix):
            yield name


def _names_of(index, piece):
    try:
        yield from piece.names()
    except (TableDamaged, OSError, ValueError, IndexError) as error:
        index.lose(piece, error)
