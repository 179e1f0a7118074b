"""Ranks are those of plain BM25, also at the limits of the integers they are worked out in."""

import math
import random

from engram import text
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import Entry, Query
from support import StatelessSchema, folder

WORDS = ("apple", "boat", "cedar", "delta", "ember", "flint", "grove", "harbor")
COMMON = " ".join(["w%d" % number for number in range(23)])


class Texts(StatelessSchema):
    """Every line is an entry without labels."""

    def describe(self, line):
        return Entry(line["seq"], text.terms(line["text"]), (), 0, 0, (), (), 0, False)


def _opened():
    store = Store(Log(folder(), "log"), Texts())
    store.open()
    return store


def _query(words):
    return Query(text.terms(words), (), (), 0, 0, "", None, True)


def test_ranks_are_those_of_plain_bm25():
    random.seed(3)
    store = _opened()
    texts = [" ".join(random.choice(WORDS) for _ in range(random.randrange(1, 9))) for _ in range(40)]
    for content in texts:
        store.append([("text", content)])
    for word in WORDS:
        expected = _bm25(texts, [word])
        got = list(store.search(_query(word), 50))
        assert {hit.number for hit in got} == set(expected)
        for better, worse in zip(got, got[1:]):
            # The index keeps a word's weight in eight levels: what is nearly equal may stand either way.
            assert expected[better.number] >= expected[worse.number] * 0.85


def _bm25(texts, words):
    documents = [list(text.terms(content)) for content in texts]
    mean = sum(len(document) for document in documents) / len(documents)
    shortest = 20  # terms: as long as this counts what is shorter
    scores = {}
    for word in words:
        term = next(iter(text.terms(word)))
        having = sum(term in document for document in documents)
        idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
        for number, document in enumerate(documents):
            count = document.count(term)
            if count:
                norm = 0.9 * (0.6 + 0.4 * max(shortest, len(document)) / mean)
                scores[number + 1] = scores.get(number + 1, 0) + idf * count * 1.9 / (count + norm)
    return scores


def test_many_words_that_stand_everywhere_do_not_drown_the_rare_one():
    store = _opened()
    for _ in range(60):
        store.append([("text", COMMON)])
    wanted = store.append([("text", COMMON + " rare" * 9)])
    for _ in range(40):
        store.append([("text", COMMON)])
    assert [hit.number for hit in store.search(_query(COMMON + " rare"), 1)] == [wanted]
