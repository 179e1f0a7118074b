"""Tells of what a found row's score is made: see ranking.py for the formula."""

from engram.store.index import codec
from engram.store.search.weights import ONE, OWN


def parts(ranking, place: int, row: int, speaker_rows=None, halves_replies: bool = False) -> list:
    """[(what, points), ...] for a row that was found: the words of the query that it has, and what came on top.

    The points add up to the score, but for what each division lost.
    """
    top = next(ranking.best())[0]
    total, slot = next((total, slot) for total, at, other, slot in ranking.best() if (at, other) == (place, row))
    found = []
    for number, term in enumerate(ranking.terms):
        level = _level(ranking, place, row, number)
        if level is not None:
            weight = OWN * ranking.levels[number][level]
            total -= weight
            found.append((term, weight * ONE // top))
    found.append(("the turns beside it", total * ONE // top))
    found.append(("its session", ranking.points.get(slot, 0)))
    if speaker_rows and speaker_rows(ranking.tables[place], row):
        found.append(("its speaker", sum(points for _, points in found) * 2 // 5))
    if halves_replies and ranking.tables[place].is_reply(row):
        found.append(("a reply counts half", -(sum(points for _, points in found) + 1 >> 1)))
    return [part for part in found if part[1]]


def _level(ranking, place: int, row: int, number: int):
    """The level of a query's word in a row, None if the row does not have it."""
    table = ranking.tables[place]
    if table is ranking.index.memtable:
        for here, count in table.postings(ranking.hashes[number]):
            if here == row:
                return codec.level(count, table.lengths[row], ranking.index.mean())
        return None
    found = ranking.places[table.number][number] if table.number in ranking.places else None
    count = table.decode(found, ranking.hashes[number]) if found is not None else 0
    for at in range(count):
        if codec.lists.rows[at] >> 3 == row:
            return codec.lists.rows[at] & 7
    return None
