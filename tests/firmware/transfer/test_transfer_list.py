"""/import of a JSON list on the board: the objects of an export or by hand, over as many lines as they like."""

import json

from engram.errors import ArgumentError
from engram.transfer.json_list import JsonList
from movers import answered, imported, live, memories, mover, put, stored
from support import raises

TWO = '[\n {"content": "Ann: \\"]}\\\\", "tags": ["a"]},\n {"content": "Bob", "tags": ["b"],\n  "keywords": ["x"]}\n]\n'


def test_the_objects_of_a_list_are_memories():
    board = mover()
    assert imported(board, TWO, "in.json") == ["2 stored, 0 refused"]
    assert [row["content"] for row in live(board)] == ['Ann: "]}\\', "Bob"]


def test_a_list_of_exported_memories_is_recognised_again():
    board = stored("Ann plays chess")
    assert imported(board, json.dumps(memories(board)), "in.json") == ["0 stored, 1 there already, 0 refused"]


def test_lists_within_an_object_are_read():
    board = mover()
    assert imported(board, '{"version":1,"memories":' + TWO + "}", "in.json")[0] == "2 stored, 0 refused"


def test_lines_and_an_object_are_read_though_the_name_is_that_of_a_list():
    line = '{"content": "Bob", "tags": ["b"]}'
    for content, last in (
        (line, "1 stored, 0 refused"),
        ("\ufeff" + line + '\n{"content": "Ann", "tags": ["a"]}\n', "2 stored, 0 refused"),
        (line + '\n{"content": "Ann"\n' + line.replace("Bob", "Cleo"), "2 stored, 1 refused"),
        (line.replace(",", ",\n"), "1 stored, 0 refused"),
        ('{\n"content": "Ann", "tags": ["a"]}\n' + line, "2 stored, 0 refused"),
    ):
        assert imported(mover(), content, "in.json")[-1] == last, content
    assert imported(mover(), "- Bob\n", "IN.MD") == imported(mover(), line, "IN.JSON") == ["1 stored, 0 refused"]


def test_what_has_no_objects_is_refused():
    for content in ("", "hello", '["a", "b"]', "[]", 'x = [{"content": "Bob", "tags": ["b"]}]'):
        told = imported(mover(), content, "in.json")
        assert told == [
            "line 1: the file is neither a list of JSON objects nor one nor lines of them.",
            "0 stored, 1 refused",
        ], content


def test_an_object_comes_whole_however_the_file_is_cut_into_pieces():
    data = TWO.encode()
    for size in (1, 2, 3, 7, 1000):
        objects = JsonList()
        found = []
        for at in range(0, len(data), size):
            found.extend(objects.feed(data[at : at + size]))
        assert [number for number, _ in found] == [2, 3] and objects.is_whole, size
        assert [json.loads(line)["tags"] for _, line in found] == [["a"], ["b"]], size


def test_what_cannot_be_read_is_reported_with_its_line():
    long = '[{"content": "%s", "tags": ["a"]},\n{"content": "b", "tags": 7}, {"content": "c", "tags": ["c"]}\n' % (
        "x" * 17000
    )
    told = imported(mover(), long, "in.json")
    assert told[0].startswith("line 1: has 170") and told[1].startswith("line 2: tags: ")
    assert told[2:] == ["line 3: the file has no end.", "1 stored, 3 refused"]


def test_brackets_within_each_other_are_bounded():
    with raises(ArgumentError):
        list(JsonList().feed(b"[" * 65))
    told = imported(mover(), "[" * 100000, "in.json")
    assert told[0].startswith("line 1: file: has more than 64 brackets") and told[-1] == "0 stored, 1 refused"


def test_a_list_of_another_program_is_refused_once():
    board = mover()
    put(board, [], "in.json")
    foreign = '[{"id":"k1","content":"Use tabs","createdAt":1},{"id":"k2","content":"Use spaces","createdAt":2}]'
    told = imported(board, foreign, "in.json")
    assert "`engram import FILE` on a computer" in told[0] and told[-1] == "0 stored, 1 refused"
    assert answered(board, "/memory list") == answered(mover(), "/memory list")
