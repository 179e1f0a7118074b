"""Moving here from ESP-Claw and CoClaw: ids, pins, importance, times and tombstones come along."""

import json

from board import ANN, NOW
from movers import answered, imported, live, memories, mover
from support import rounds

ESP_CLAW = {
    "id": "mem-1790000000-1", "source": "auto_llm", "content": "Ann likes tea", "tags": "food,drink", "keywords": "tea;cup",
    "created_at": NOW - 100, "updated_at": NOW - 50, "access_count": 3, "deleted": False, "summary_ids": [1, 2],
}  # fmt: skip
COCLAW = {
    "id": "k3-x9", "content": "Use tabs", "type": "convention", "tags": ["style", "tabs"], "importance": 0.8,
    "createdAt": (NOW - 1000) * 1000, "lastUsedAt": (NOW - 10) * 1000, "source": "auto-extracted", "pinned": True,
}  # fmt: skip


def _changed(base, **changes):
    line = dict(base)
    line.update(changes)
    return line


def test_a_line_of_esp_claw_becomes_a_memory():
    board = mover()
    assert imported(board, [ESP_CLAW]) == ["1 stored, 0 refused"]
    row = live(board)[0]
    assert (row["content"], row["tags"], row["keywords"]) == ("Ann likes tea", ["food", "drink"], ["tea", "cup"])
    assert (row["created"], row["updated"], row["source"], row["scope"]) == (
        NOW - 100,
        NOW - 50,
        "auto_llm",
        "user:owner",
    )
    line = memories(board)[0]
    assert (line["origin"], line["uses"]) == ("esp-claw:mem-1790000000-1", 3)


def test_what_is_forgotten_there_is_not_imported():
    gone = _changed(ESP_CLAW, deleted=True)
    board = mover()
    assert imported(board, [gone]) == ["0 stored, 1 there already, 0 refused"]
    # In one file: an append-only log has the memory and its tombstone.
    imported(board, [ESP_CLAW, gone])
    assert live(board) == []


def test_what_is_forgotten_there_is_forgotten_here():
    board = mover()
    imported(board, [ESP_CLAW])
    assert imported(board, [_changed(ESP_CLAW, deleted=True)]) == ["0 stored, 1 forgotten, 0 refused"]
    assert live(board) == []


def test_a_later_line_of_the_same_id_changes_the_memory():
    board = mover()
    board.records.store("Ann has a cat", ["a"])
    later = _changed(ESP_CLAW, content="Ann likes coffee", updated_at=NOW - 20)
    assert imported(board, [ESP_CLAW, later]) == ["1 stored, 1 changed, 0 refused"]
    assert [row["content"] for row in live(board)] == ["Ann has a cat", "Ann likes coffee"]


def test_what_was_pinned_here_stays_so_when_the_file_comes_again():
    board = mover()
    imported(board, [ESP_CLAW])
    board.records.update("m1", {"pinned": True, "importance": 0.9, "type": "preference"})
    imported(board, [_changed(ESP_CLAW, content="Ann likes coffee", updated_at=NOW + 20)])
    row = live(board)[0]
    assert (row["content"], row["pinned"], row["importance"]) == ("Ann likes coffee", True, 0.9)


def test_a_clock_that_was_not_set_gives_no_moment():
    board = mover()
    imported(board, [_changed(ESP_CLAW, created_at=12, updated_at=15)])
    assert live(board)[0]["created"] == NOW and "updated" not in live(board)[0]


def test_a_tag_of_a_workspace_becomes_the_scope():
    board = mover()
    imported(board, [_changed(ESP_CLAW, tags="ws:garden,food")])
    state = board.records_store.line(1)
    assert (state["scope"], state["tags"]) == ("ws:garden", ["food"])


def test_a_memory_without_tags_has_one_that_says_where_it_comes_from():
    board = mover()
    imported(board, [_changed(ESP_CLAW, tags="")])
    assert live(board)[0]["tags"] == ["imported"]


def test_an_export_of_coclaw_is_read_as_it_is():
    board = mover()
    entries = [COCLAW, _changed(COCLAW, id="k4", content='Deploy on Fridays, {not} "Mondays" [ever]', pinned=False)]
    for outcome in ("2 stored, 0 refused", "0 stored, 2 there already, 0 refused"):
        assert imported(board, json.dumps(entries), "CoClaw-memories.json") == [outcome]
    first, second = live(board)
    assert (first["type"], first["importance"], first["pinned"], first["source"]) == (
        "convention",
        0.8,
        True,
        "auto_llm",
    )
    assert (first["created"], first["tags"]) == (NOW - 1000, ["style", "tabs"]) and not second["pinned"]
    line = memories(board)[0]
    assert (line["origin"], line["uses"]) == ("coclaw:k3-x9", 1)


def test_entries_within_an_object_are_read_too():
    board = mover()
    assert imported(board, json.dumps({"date": "2026-09-21", "entries": [COCLAW]}), "log.json") == [
        "1 stored, 0 refused"
    ]


def test_many_tags_become_tags_and_keywords():
    board = mover()
    told = imported(board, json.dumps([_changed(COCLAW, tags=["tag%d" % number for number in range(20)])]), "in.json")
    row = live(board)[0]
    assert row["tags"] == ["tag0", "tag1", "tag2"] and row["keywords"] == ["tag%d" % number for number in range(3, 11)]
    assert told[1] == "left out, since a memory has no place for it: tags"


def test_each_wrong_entry_of_a_list_is_told_with_its_line():
    wrong = (
        _changed(COCLAW, createdAt="2026-01-31"),
        _changed(COCLAW, type="gossip"),
        _changed(COCLAW, tags="style"),
        _changed(ESP_CLAW, tags=["food"]),
        _changed(ESP_CLAW, id="mem 1"),
    )
    text = "[\n" + ",\n".join([json.dumps(entry) for entry in wrong]) + ',\n{"content":"'
    told = imported(mover(), (text,) + ("x" * 1000,) * 17 + ('"}\n]',), "in.json")
    for number, why in enumerate(("createdAt: ", "type: ", "tags: ", "tags: ", "id: ", "has 17")):
        assert told[number].startswith("line %d: %s" % (number + 2, why)), told
    assert told[-1] == "0 stored, 6 refused"


def test_a_list_that_is_cut_gives_what_stands_before():
    text = json.dumps([COCLAW, _changed(COCLAW, id="k4", content="Deploy on Fridays")])
    for cut in range(len(text) - rounds(60, 12), len(text)):
        told = imported(mover(), text[:cut], "in.json")
        assert told[0].startswith("line 1: "), (cut, told)
        assert told[1].startswith("1 stored" if cut < len(text) - 1 else "2 stored")


def test_objects_of_chance_do_no_harm():
    for value in (None, True, -1, 1 << 40, 1.5, "x", "", [], ["x"], {}, [[1]], {"content": "y"}):
        for base in (ESP_CLAW, COCLAW):
            board = mover()
            for name in base:
                told = imported(board, [_changed(base, **{name: value})])
                assert told[-1].find("stored") >= 0 or told[-2].find("stored") >= 0, (name, value, told)


def test_a_tombstone_takes_what_left_for_want_of_room_out_of_the_trash():
    board = mover()
    board.trash.add([[("id", "m9"), ("content", "likes tea"), ("scope", "user:owner"), ("origin", "esp-claw:mem-1")]])
    line = '/import {"id":"mem-1","deleted":true,"created_at":1790000000}'
    assert answered(board, line, ANN)[0] == "0 stored, 1 there already, 0 refused"
    assert answered(board, line)[0] == "0 stored, 1 forgotten, 0 refused"
    assert list(board.trash.records()) == []
