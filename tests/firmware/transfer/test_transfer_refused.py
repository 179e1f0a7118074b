"""Imports line by line: what cannot be taken is told with its line, and leaves the rest as it is."""

import json
import random

from engram.errors import ArgumentError, NotFound
from movers import answered, fill, imported, live, mover, put, rows, stored
from support import raises, rounds

# --- what is refused


REFUSED = (
    (b"{", "is no JSON object."),
    (b'{"content":"cut', "is no JSON object."),
    (b"[1]", "is no JSON object."),
    (b'{"content":"\xff","tags":["a"]}', "is not UTF-8."),
    (b'{"content":"a\\u0000b","tags":["a"]}', "content: "),
    (b'{"content":" ","tags":["a"]}', "content: "),
    (b'{"content":7,"tags":["a"]}', "content: "),
    (b'{"tags":["a"]}', "content: "),
    (b'{"content":"x","tags":[1]}', "tags: "),
    (b'{"content":"x","tags":["a","b","c","d"]}', "tags: "),
    (b'{"content":"x","type":"gossip"}', "type: "),
    (b'{"content":"x","importance":2}', "importance: "),
    (b'{"content":"x","importance":"high"}', "importance: "),
    (b'{"content":"x","pinned":"yes"}', "pinned: "),
    (b'{"content":"x","scope":"everyone"}', "scope: "),
    (b'{"content":"x","created":-1}', "created: "),
    (b'{"content":"x","created":"yesterday"}', "created: "),
    (b'{"content":"x","created":1790000000000}', "created: "),
    (b'{"content":"x","updated":1.5}', "updated: "),
    (b'{"content":"x","expires":true}', "expires: "),
    (b'{"content":"x","origin":"m12"}', "origin: "),
    (b'{"content":"x","origin":"a b:m12"}', "origin: "),
    (b'{"content":"x","supersedes":"m3"}', "supersedes: "),
    (b'{"content":"x","superseded":1}', "superseded: "),
    (b'{"content":"x","turns":"t3"}', "turns: "),
    (b'{"content":"x","uses":-1}', "uses: "),
    (b'{"engram_export":9}', "engram_export: "),
)


def test_each_line_that_cannot_be_taken_is_reported_with_its_number_and_why():
    board = mover()
    told = imported(board, b"\n".join([line for line, _ in REFUSED]) + b"\n")
    for number, (line, why) in enumerate(REFUSED):
        assert told[number].startswith("line %d: %s" % (number + 1, why)), (line, told[number])
    assert told[len(REFUSED)] == "0 stored, %d refused" % len(REFUSED) and live(board) == []


def test_cut_and_damaged_exports_do_no_harm():
    for seed in range(rounds(4, 2)):
        random.seed(seed)
        board = fill(mover(), 6)
        whole = "\n".join(answered(board, "/export")).encode() + b"\n"
        known = [row["content"] for row in rows(board)]
        data = bytearray(whole)
        for _ in range(1 + random.getrandbits(2)):
            at = random.getrandbits(16) % len(data)
            if random.getrandbits(1):
                data[at] = random.getrandbits(8)
            else:
                data = data[: max(1, at)]
        other = mover()
        told = imported(other, bytes(data))
        counted = [line for line in told if " refused" in line and " stored" in line]
        assert len(counted) == 1
        assert len([row for row in rows(other) if row["content"] in known]) >= len(rows(other)) - 4
        # What was damaged comes with the whole file; a content that was changed on the way is another memory's.
        imported(other, whole)
        assert [content for content in known if content not in [row["content"] for row in rows(other)]] == []


def test_an_export_that_lacks_lines_is_reported():
    lines = answered(stored("Ann plays chess", "Bob sings"), "/export")
    board = mover()
    assert imported(board, lines[:-1])[-1] == "the file is not whole: its last line is missing"
    assert imported(board, lines[:1] + lines[2:])[-1] == "the file is not whole: it had 6 lines, 5 were read"


def test_a_file_needs_a_name_of_the_board():
    board = mover()
    put(board, "x", "my file.jsonl")
    for name in (
        "../x.jsonl",
        "memory/memory_records.jsonl",
        "my file.jsonl",
        "x.txt",
        ".x.jsonl",
        "config.json",
        "\0.jsonl",
    ):
        with raises(ArgumentError):
            answered(board, "/import " + name)
    with raises(NotFound):
        answered(board, "/import none.jsonl")
    with raises(ArgumentError):
        answered(board, "/import")


def test_a_line_of_another_program_ends_the_import_and_names_the_command_for_it():
    foreign = (
        {"id": "mem-1", "content": "Ann likes tea", "tags": "food", "created_at": 1790000000, "deleted": False},
        {"id": "mem-1", "deleted": True},
        {"id": "k3", "content": "Use tabs", "tags": ["style"], "createdAt": 1790000000000},
        {"memory": "Ann likes tea"},
        {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["likes tea"]},
        {"type": "relation", "from": "Ann", "to": "Bob", "relationType": "knows"},
        {"title": "Tea", "mapping": {}},
    )
    for line in foreign:
        told = imported(mover(), [{"content": "Ann plays chess"}, line, line, {"content": "Bob sings"}])
        assert told == [
            "line 2: is of another program: use `engram import FILE` on a computer.",
            "1 stored, 1 refused",
        ]


# --- room


def test_a_full_memory_stops_an_import_which_goes_on_later():
    left = answered(stored(*["thing number %d" % number for number in range(30)]), "/export")
    board = mover(records_most=20)
    told = imported(board, "\n".join(left) + "\n")
    assert told[0] == "20 stored, 0 refused"
    assert told[1].startswith("stopped at line 22: memory is full, and an import lets nothing leave that is here")
    while board.eviction.tick():
        pass
    assert board.eviction.left == 0
    for number in range(1, 11):
        board.records.forget("m%d" % number)
    told = imported(board, "\n".join(left[:1] + left[21:]) + "\n")
    assert told[0] == "10 stored, 0 refused" and board.records.count() == 20


def test_no_import_makes_memory_fuller_than_it_may_be_by_replacing_the_same_again_and_again():
    board = mover(records_most=20)
    lines = [{"content": "thing alpha", "origin": "x:0"}]
    lines += [{"content": "thing %d" % at, "origin": "x:%d" % at, "supersedes": "x:0"} for at in range(1, 60)]
    assert "records.most" in imported(board, lines)[-1]
    for line in lines:
        answered(board, "/import " + json.dumps(line))
    assert board.records.entries.count() <= 20


# --- whatever stands in a line


VALUES = (
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "1.5",
    "1e30",
    str(10**25),
    '""',
    '"x"',
    '"m1"',
    "[]",
    "[1]",
    '["x"]',
)
VALUES += ("[[]]", "{}", '{"a":1}')
OBJECTS = (
    '{"engram_export":1,"epoch":"00000000","journal":"00000000","at":1,"records":1}',
    '{"engram_export_end":1}',
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
                told = answered(board, "/import " + line.replace(",}", "}"))
                assert [True for line in told if " stored, " in line], told
