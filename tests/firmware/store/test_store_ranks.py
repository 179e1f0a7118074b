"""Ranks at the limits of the integers they are worked out in."""

from engram import text
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import Entry, Query
from support import StatelessSchema, folder

COMMON = ["w%d" % number for number in range(23)]


class Texts(StatelessSchema):
    """Every line is an entry without labels."""

    def describe(self, line):
        return Entry(line["seq"], text.terms(line["text"]), (), 0, 0, (), (), 0, False)


def test_many_words_that_stand_everywhere_do_not_drown_the_rare_one():
    store = Store(Log(folder(), "log"), Texts())
    store.open()
    for _ in range(60):
        store.append([("text", " ".join(COMMON))])
    wanted = store.append([("text", " ".join(COMMON) + " rare" * 9)])
    for _ in range(40):
        store.append([("text", " ".join(COMMON))])
    query = Query(text.terms(" ".join(COMMON) + " rare"), (), (), 0, 0, "", None, True)
    assert [hit.number for hit in store.search(query, 1)] == [wanted]
