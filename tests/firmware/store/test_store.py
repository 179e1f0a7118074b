"""The store against a plain model: versions, hidden entries, searches."""

import math
import random

from engram import text
from engram.compat import finish
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import FORGOTTEN, LIVE, SUPERSEDED, Entry, Query, no_entry
from support import folder

WORDS = ("apple", "boat", "cedar", "delta", "ember", "flint", "grove", "harbor")


class Owner:
    """Gives test lines their meaning."""

    def __init__(self):
        self.seen = []

    def describe(self, line):
        if "ends" in line:
            return no_entry(ends=line["ends"])
        if "forget" in line:
            return no_entry(hides=((line["forget"], FORGOTTEN),))
        if "show" in line:
            return no_entry(shows=(line["show"],))
        hides = ((line["supersedes"], SUPERSEDED),) if "supersedes" in line else ()
        labels = ["#" + tag for tag in line.get("tags", ())]
        number = line.get("of", line["seq"])
        return Entry(
            number, text.terms(line["text"]), labels, line.get("session", 0), line.get("at", 0), hides, (), 0, False
        )

    def observe(self, line):
        self.seen.append(line["seq"])

    def state(self):
        return {"seen": len(self.seen)}

    def restore(self, state):
        self.seen = []


def _open(place):
    store = Store(Log(place, "log", segment_bytes=2000), Owner())
    store.open()
    return store


def _query(words, labels=(), since=0, until=0, scopes=()):
    return Query(text.terms(words), labels, scopes, since, until, "", None, True)


def _found(store, words, **more):
    return [hit.number for hit in store.search(_query(words, **more), 50)]


def test_an_entry_is_found_by_each_of_its_words():
    store = _open(folder())
    seq = store.append([("text", "apple boat")])
    assert _found(store, "boat") == [seq] and _found(store, "apple cedar") == [seq]


def test_an_update_replaces_what_is_found_under_the_same_number():
    store = _open(folder())
    first = store.append([("text", "apple")])
    store.append([("text", "boat"), ("of", first)])
    assert _found(store, "apple") == [] and _found(store, "boat") == [first]


def test_a_forgotten_entry_is_neither_found_nor_given():
    store = _open(folder())
    seq = store.append([("text", "apple")])
    store.append([("forget", seq)])
    assert _found(store, "apple") == [] and store.get(seq) is None and store.state(seq) == FORGOTTEN


def test_a_superseded_entry_is_given_but_not_found():
    store = _open(folder())
    first = store.append([("text", "apple boat")])
    second = store.append([("text", "apple cedar"), ("supersedes", first)])
    assert _found(store, "apple") == [second]
    assert store.get(first)["text"] == "apple boat" and store.state(first) == SUPERSEDED


def test_what_was_never_stored_has_no_state():
    assert _open(folder()).state(7) is None


def test_labels_filter_what_is_found():
    store = _open(folder())
    store.append([("text", "apple"), ("tags", ["a"])])
    second = store.append([("text", "apple"), ("tags", ["a", "b"])])
    assert _found(store, "apple", labels=("#a", "#b")) == [second]


def test_times_filter_what_is_found():
    store = _open(folder())
    base = 1790000040
    numbers = [store.append([("text", "apple"), ("at", base + 60 * n)]) for n in range(4)]
    assert sorted(_found(store, "apple", since=base + 60, until=base + 180)) == numbers[1:3]


def test_one_of_the_scopes_is_enough():
    store = _open(folder())
    first = store.append([("text", "apple"), ("tags", ["a"])])
    second = store.append([("text", "apple"), ("tags", ["b"])])
    store.append([("text", "apple"), ("tags", ["c"])])
    assert sorted(_found(store, "apple", scopes=("#a", "#b"))) == [first, second]


def test_newest_lists_live_entries_by_their_latest_version():
    store = _open(folder())
    numbers = [store.append([("text", "apple")]) for _ in range(3)]
    store.append([("text", "boat"), ("of", numbers[0])])
    store.append([("forget", numbers[1])])
    assert [_number(line) for line in store.newest()] == [numbers[0], numbers[2]]


def test_a_thread_is_walked_backwards():
    store = _open(folder())
    for _ in range(6):
        store.append([("text", "apple"), ("session", 5)])
        store.append([("text", "boat")])
    assert list(store.thread(5)) == [11, 9, 7, 5, 3, 1]


def test_the_turn_after_a_match_ranks_before_a_stranger():
    store = _open(folder())
    store.append([("text", "delta delta")])
    first = store.append([("text", "apple boat"), ("session", 5)])
    second = store.append([("text", "cedar"), ("session", 5)])
    assert _found(store, "apple") == [first, second]


def test_equal_scores_go_to_the_newer():
    store = _open(folder())
    numbers = [store.append([("text", "apple")]) for _ in range(5)]
    numbers.reverse()
    assert _found(store, "apple") == numbers


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
