"""`engram import` of ESP-Claw's and CoClaw's memories: ids, pins, importance, times and tombstones come along."""

import json
from pathlib import Path

import pytest

from board import NOW
from cli_case import engram
from extent import extent
from importing_board import Importing
from movers import imported, live, memories

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


def test_a_line_of_esp_claw_becomes_a_memory(importing: Importing):
    board = importing.board
    assert importing.run([ESP_CLAW]) == ["1 stored, 0 refused"]
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


def test_what_is_forgotten_there_is_not_imported(importing: Importing):
    gone = _changed(ESP_CLAW, deleted=True)
    board = importing.board
    assert importing.run([gone]) == ["0 stored, 1 there already, 0 refused"]
    # In one file: an append-only log has the memory and its tombstone.
    importing.run([ESP_CLAW, gone])
    assert live(board) == []


def test_what_is_forgotten_there_is_forgotten_here(importing: Importing):
    board = importing.board
    importing.run([ESP_CLAW])
    assert importing.run([_changed(ESP_CLAW, deleted=True)]) == ["0 stored, 1 forgotten, 0 refused"]
    assert live(board) == []


def test_a_later_line_of_the_same_id_changes_the_memory(importing: Importing):
    board = importing.board
    board.records.store("Ann has a cat", ["a"])
    later = _changed(ESP_CLAW, content="Ann likes coffee", updated_at=NOW - 20)
    assert importing.run([ESP_CLAW, later]) == ["1 stored, 1 changed, 0 refused"]
    assert [row["content"] for row in live(board)] == ["Ann has a cat", "Ann likes coffee"]


def test_what_was_pinned_here_stays_so_when_the_file_comes_again(importing: Importing):
    board = importing.board
    importing.run([ESP_CLAW])
    board.records.update("m1", {"pinned": True, "importance": 0.9, "type": "preference"})
    importing.run([_changed(ESP_CLAW, content="Ann likes coffee", updated_at=NOW + 20)])
    row = live(board)[0]
    assert (row["content"], row["pinned"], row["importance"]) == ("Ann likes coffee", True, 0.9)


def test_a_clock_that_was_not_set_gives_no_moment(importing: Importing):
    board = importing.board
    importing.run([_changed(ESP_CLAW, created_at=12, updated_at=15)])
    assert live(board)[0]["created"] == NOW and "updated" not in live(board)[0]


def test_a_tag_of_a_workspace_becomes_the_scope(importing: Importing):
    board = importing.board
    importing.run([_changed(ESP_CLAW, tags="ws:garden,food")])
    state = board.records_store.line(1)
    assert (state["scope"], state["tags"]) == ("ws:garden", ["food"])


def test_a_memory_without_tags_has_one_that_says_where_it_comes_from(importing: Importing):
    board = importing.board
    importing.run([_changed(ESP_CLAW, tags="")])
    assert live(board)[0]["tags"] == ["imported"]


def test_an_export_of_coclaw_is_read_as_it_is(importing: Importing):
    board = importing.board
    entries = [COCLAW, _changed(COCLAW, id="k4", content='Deploy on Fridays, {not} "Mondays" [ever]', pinned=False)]
    for outcome in ("2 stored, 0 refused", "0 stored, 2 there already, 0 refused"):
        assert importing.run(json.dumps(entries), "CoClaw-memories.json") == [outcome]
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


def test_entries_within_an_object_are_read_too(importing: Importing):
    assert importing.run(json.dumps({"date": "2026-09-21", "entries": [COCLAW]}), "log.json") == ["1 stored, 0 refused"]


def test_many_tags_become_tags_and_keywords(importing: Importing):
    board = importing.board
    told = importing.run(json.dumps([_changed(COCLAW, tags=[f"tag{number}" for number in range(20)])]), "in.json")
    row = live(board)[0]
    assert row["tags"] == ["tag0", "tag1", "tag2"] and row["keywords"] == [f"tag{number}" for number in range(3, 11)]
    assert told[1] == "left out, since a memory has no place for it: tags"


def test_each_wrong_entry_of_a_list_is_reported_with_its_line(importing: Importing):
    wrong = (
        _changed(COCLAW, createdAt="2026-01-31"),
        _changed(COCLAW, type="gossip"),
        _changed(COCLAW, tags="style"),
        _changed(ESP_CLAW, tags=["food"]),
        _changed(ESP_CLAW, id="mem 1"),
    )
    text = "[\n" + ",\n".join([json.dumps(entry) for entry in wrong]) + ',\n{"content":"'
    told = importing.run((text,) + ("x" * 1000,) * 17 + ('"}\n]',), "in.json")
    for number, why in enumerate(("createdAt: ", "type: ", "tags: ", "tags: ", "id: ", "has 17")):
        assert told[number].startswith(f"line {number + 2}: {why}"), told
    assert told[-1] == "0 stored, 6 refused"


@pytest.mark.shortened
def test_a_list_that_is_cut_gives_what_stands_before(importing: Importing):
    text = json.dumps([COCLAW, _changed(COCLAW, id="k4", content="Deploy on Fridays")])
    for cut in range(len(text) - 1, len(text) - 60, -extent(1, 7)):
        importing.new_board()
        told = importing.run(text[:cut], "in.json")
        assert told[0].startswith("line 1: "), (cut, told)
        assert told[1].startswith("1 stored" if cut < len(text) - 1 else "2 stored")


@pytest.mark.shortened
def test_objects_of_chance_do_no_harm(importing: Importing):
    values = (None, True, -1, 1 << 40, 1.5, "x", "", [], ["x"], {}, [[1]], {"content": "y"})
    for value in values[:: extent(1, 3)]:
        for base in (ESP_CLAW, COCLAW):
            importing.new_board()
            for name in base:
                told = importing.run([_changed(base, **{name: value})])
                assert told[-1].find("stored") >= 0 or told[-2].find("stored") >= 0, (name, value, told)


def test_a_tombstone_takes_what_left_for_want_of_room_out_of_the_trash(importing: Importing):
    board = importing.board
    board.trash.add([[("id", "m9"), ("content", "likes tea"), ("scope", "user:owner"), ("origin", "esp-claw:mem-1")]])
    tombstone = {"id": "mem-1", "deleted": True, "created_at": 1790000000}
    assert importing.run([tombstone]) == ["0 stored, 1 forgotten, 0 refused"]
    assert list(board.trash.records()) == []


def test_a_converted_file_is_imported_by_the_board_itself(importing: Importing, tmp_path: Path):
    out = tmp_path / "out.jsonl"
    lines = [
        ESP_CLAW,
        _changed(ESP_CLAW, tags=["food"]),
        _changed(ESP_CLAW, id="mem-2", content="Bob " + "sings " * 300),
    ]
    told = importing.run(lines, "memory_records.jsonl", "--out", out)
    assert told == ["line 2: tags: must be a text with commas between.", "2 written, 1 refused"]
    assert imported(importing.board, out.read_text()) == ["2 stored, 0 refused"]
    assert [row["content"][:9] for row in live(importing.board)] == ["Ann likes", "Bob sings"]
    assert out.stat().st_mode & 0o777 == 0o600


def test_a_file_goes_to_a_board_or_into_a_file(importing: Importing, tmp_path: Path):
    (tmp_path / "in.md").write_text("- Bob sings\n")
    ran = engram("import", tmp_path / "in.md", "--sim", tmp_path, "--out", tmp_path / "out.jsonl")
    assert (ran.status, ran.out) == (2, "") and not (tmp_path / "out.jsonl").exists()
