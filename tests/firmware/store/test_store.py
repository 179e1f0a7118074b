"""The store against a plain model: versions, hidden entries, searches."""

import math
import random

from engram import text
from engram.compat import finish
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import FORGOTTEN, LIVE, Entry, Query, no_entry
from support import StatelessSchema, folder

WORDS = ("apple", "boat", "cedar", "delta", "ember", "flint", "grove", "harbor")


class Owner(StatelessSchema):
    """Gives test lines their meaning."""

    def describe(self, line):
        if "forget" in line:
            return no_entry(hides=((line["forget"], FORGOTTEN),))
        return Entry(line.get("of", line["seq"]), text.terms(line["text"]), (), 0, 0, (), (), 0, False)


def _open(place):
    store = Store(Log(place, "log", segment_bytes=2000), Owner())
    store.open()
    return store


def _query(words):
    return Query(text.terms(words), (), (), 0, 0, "", None, True)


def _found(store, words):
    return [hit.number for hit in store.search(_query(words), 50)]


def test_ranks_are_those_of_plain_bm25():
    random.seed(3)
    store = _open(folder())
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


def test_random_operations_agree_with_a_plain_dict_across_restarts():
    random.seed(4)
    place = folder()
    store = _open(place)
    model = {}
    for step in range(200):
        choice = random.random()
        if choice < 0.5 or not model:
            content = " ".join(random.choice(WORDS) for _ in range(3))
            model[store.append([("text", content)])] = content
        elif choice < 0.75:
            number = random.choice(sorted(model))
            model[number] = random.choice(WORDS) + " changed"
            store.append([("text", model[number]), ("of", number)])
        elif choice < 0.95:
            number = random.choice(sorted(model))
            del model[number]
            store.append([("forget", number)])
        else:
            store.close()
            store.open()
        if step % 20 == 0:
            _agree(store, model)
    _agree(store, model)


def _number(line):
    return line.get("of", line["seq"])


def _agree(store, model):
    assert sorted(_number(line) for line in store.newest()) == sorted(model)
    for number, content in model.items():
        assert store.get(number)["text"] == content
    for word in WORDS:
        assert sorted(_found(store, word)) == sorted(n for n, content in model.items() if word in content.split())


def test_compaction_changes_no_answer():
    random.seed(5)
    store = _open(folder())
    for number in range(60):
        store.append([("text", random.choice(WORDS) + " " + random.choice(WORDS))])
        if number % 4 == 3:
            store.append([("forget", store.next_seq - 2)])
    before = [_found(store, word) for word in WORDS]
    finish(store.compacting(lambda line: "forget" not in line and store.state(line["seq"]) == LIVE))
    while store.tick():
        pass
    assert [_found(store, word) for word in WORDS] == before
