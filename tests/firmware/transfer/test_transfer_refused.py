"""Imports that are refused: the answer says why, and nothing is stored."""

import json
import random

from movers import answered, imported, live, mover
from support import rounds

# --- what is refused


REFUSED = (
    ("{", "object: is no JSON object"),
    ('{"content":"cut', "object: is no JSON object"),
    ("[1]", "object: is no JSON object"),
    ('{"content":"a\\u0000b","tags":["a"]}', "content: "),
    ('{"content":" ","tags":["a"]}', "content: "),
    ('{"content":7,"tags":["a"]}', "content: "),
    ('{"tags":["a"]}', "content: "),
    ('{"content":"x","tags":[1]}', "tags: "),
    ('{"content":"x","tags":["a","b","c","d"]}', "tags: "),
    ('{"content":"x","type":"gossip"}', "type: "),
    ('{"content":"x","importance":2}', "importance: "),
    ('{"content":"x","importance":"high"}', "importance: "),
    ('{"content":"x","pinned":"yes"}', "pinned: "),
    ('{"content":"x","scope":"everyone"}', "scope: "),
    ('{"content":"x","created":-1}', "created: "),
    ('{"content":"x","created":"yesterday"}', "created: "),
    ('{"content":"x","created":1790000000000}', "created: "),
    ('{"content":"x","updated":1.5}', "updated: "),
    ('{"content":"x","expires":true}', "expires: "),
    ('{"content":"x","when":68719476736}', "when: "),
    ('{"content":"x","when":1790000000,"until":1780000000}', "until: "),
    ('{"content":"x","origin":"m12"}', "origin: "),
    ('{"content":"x","origin":"a b:m12"}', "origin: "),
    ('{"content":"x","supersedes":"m3"}', "supersedes: "),
    ('{"content":"x","superseded":1}', "superseded: "),
    ('{"content":"x","uses":-1}', "uses: "),
    ('{"engram_export":1}', "content: "),
    ('{"id":"m1","deleted":true}', "origin: "),
)


def test_an_object_that_cannot_be_taken_is_refused_with_the_reason():
    board = mover()
    for line, why in REFUSED:
        (told,) = answered(board, "/import " + line)
        assert told.startswith(why), (line, told)
    assert live(board) == []


# --- room


def test_an_import_evicts_nothing_from_a_full_memory():
    board = mover(records_most=20)
    lines = [{"content": "thing number %d" % number} for number in range(21)]
    assert imported(board, lines)[-1].startswith("memory is full, and an import lets nothing leave that is here")
    while board.eviction.tick():
        pass
    assert board.eviction.left == 0
    board.records.forget("m1")
    imported(board, lines[20:])
    assert board.records.count() == 20 and live(board)[-1]["content"] == "thing number 20"


def test_no_import_makes_memory_fuller_than_it_may_be_by_replacing_the_same_again_and_again():
    board = mover(records_most=20)
    lines = [{"content": "thing alpha", "origin": "x:0"}]
    lines += [{"content": "thing %d" % at, "origin": "x:%d" % at, "supersedes": "x:0"} for at in range(1, 60)]
    assert "records.most" in imported(board, lines)[-1]
    assert board.records.entries.count() <= 20


# --- whatever stands in a line


VALUES = (
    "null", "true", "false", "0", "-1", "1", "1.5", "1e30", str(10**25), '""', '"x"', '"m1"', "[]", "[1]", '["x"]',
)  # fmt: skip
VALUES += ("[[]]", "{}", '{"a":1}')
OBJECTS = (
    '{"file":"user.md","text":"x"}',
    '{"content":"x","tags":["x"],"keywords":["x"],"type":"fact","importance":1,"source":"manual","scope":"all","created":1,'
    '"updated":1,"pinned":true,"expires":1,"turns":["t1"],"guess":true,"id":"m1","origin":"x:1","supersedes":"x:2",'
    '"superseded":true,"archived":true,"uses":1,"used":1,"partial":true}',
    '{"content":"x","origin":"x:1","deleted":true}',
    '{"content":"x","id":"x","tags":"x","keywords":"x","created_at":1,"updated_at":1,"access_count":1,"deleted":false,'
    '"summary_ids":[1],"summary_labels":["x"],"source":"x"}',
    '{"content":"x","id":"x","type":"fact","tags":["x"],"importance":1,"createdAt":1,"lastUsedAt":1,"source":"x","pinned":true}',
)


def test_whatever_a_field_holds_an_import_answers():
    random.seed(3)
    board = mover()
    for pattern in OBJECTS:
        fields = json.loads(pattern)
        for name in sorted(fields):
            for value in rounds(VALUES, [random.choice(VALUES) for _ in range(2)]):
                rest = dict(fields)
                del rest[name]
                line = '{"%s":%s,%s' % (name, value, json.dumps(rest)[1:])
                assert answered(board, "/import " + line.replace(",}", "}")), line
