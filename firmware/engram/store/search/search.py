"""Searches a store: ranks rows of its index, and reads the lines of the best ones."""

from engram.store.search import filters
from engram.store.search.ranking import Ranking
from engram.store.types import Hit, passes


def search(store, query, limit: int, explain: bool, skip):
    """See Store.search."""
    store.ready()
    store.entry_states.settle()
    ranking = Ranking(store.index, query.terms, query.weights)
    ranking.run(filters.allowed(store.index, query.labels, query.scopes, query.since, query.until))
    speaker_rows = filters.by_speaker(store.index, query.speaker)
    first = store.upkeep.tail[2]
    for score, place, row, evidence in ranking.scored(speaker_rows, explain):
        table = ranking.table(place)
        if limit <= 0 or (table is None and store.upkeep.tail[2] != first):
            # Enough; or the lines in RAM became a table between two steps of this generator.
            return
        line = store.entry_states.live_line(table, row, skip)
        entry = store.describe(line) if line is not None else None
        if entry is not None and passes(entry, query.labels, query.scopes):
            limit -= 1
            # One by one, since all lines at once could fill the heap.
            made_of = _parts(store.index, ranking, place, row, speaker_rows) if explain else ()
            yield Hit(entry.number, score, evidence, line, made_of)


def _parts(index, ranking, place: int, row: int, speaker_rows) -> list:
    from engram.store.search.explain import parts  # 1 KB of heap, seldom needed

    table = ranking.table(place)
    if table is None:
        return parts(ranking, place, row, speaker_rows)
    return index.guarded(table, parts, ranking, place, row, speaker_rows) or []
