"""`engram import` of other programs' memories: ids, pins, importance, times and tombstones come along."""

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
    assert (row["created"], row["updated"]) == (NOW - 100, NOW - 50)
    assert (row["source"], row["scope"]) == ("auto_llm", "user:owner")
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


def test_a_clock_that_was_not_set_gives_no_moment(importing: Importing):
    board = importing.board
    importing.run([_changed(ESP_CLAW, created_at=12, updated_at=15)])
    assert live(board)[0]["created"] == NOW and "updated" not in live(board)[0]


def test_a_tag_of_a_workspace_becomes_the_scope(importing: Importing):
    board = importing.board
    importing.run([_changed(ESP_CLAW, tags="ws:garden,food")])
    state = board.records_store.line(1)
    assert (state["scope"], state["tags"]) == ("ws:garden", ["food"])


def test_an_export_of_coclaw_is_read_as_it_is(importing: Importing):
    board = importing.board
    entries = [COCLAW, _changed(COCLAW, id="k4", content='Deploy on Fridays, {not} "Mondays" [ever]', pinned=False)]
    for outcome in ("2 stored, 0 refused", "0 stored, 2 there already, 0 refused"):
        assert importing.run(json.dumps(entries), "CoClaw-memories.json") == [outcome]
    first, second = live(board)
    assert (first["type"], first["source"]) == ("convention", "auto_llm")
    assert first["importance"] == 0.8 and first["pinned"] is True
    assert (first["created"], first["tags"]) == (NOW - 1000, ["style", "tabs"]) and not second["pinned"]
    line = memories(board)[0]
    assert (line["origin"], line["uses"]) == ("coclaw:k3-x9", 1)


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
def test_objects_of_chance_do_no_harm(importing: Importing):
    values = (None, True, -1, 1 << 40, 1.5, "x", "", [], ["x"], {}, [[1]], {"content": "y"})
    for value in values[:: extent(1, 3)]:
        for base in (ESP_CLAW, COCLAW):
            importing.new_board()
            for name in base:
                told = importing.run([_changed(base, **{name: value})])
                assert told[-1].find("stored") >= 0 or told[-2].find("stored") >= 0, (name, value, told)


def _chat(*messages: dict[str, object], **more: object) -> dict[str, object]:
    """A conversation of ChatGPT: its messages one after another, the last one shown."""
    mapping: dict[str, object] = {"n-1": {"message": None, "parent": None}}
    for at, message in enumerate(messages):
        mapping[f"n{at}"] = {"message": message, "parent": f"n{at - 1}"}
    return {
        "title": "Tea",
        "create_time": NOW - 500.5,
        "mapping": mapping,
        "current_node": f"n{len(messages) - 1}",
        **more,
    }


def _said(role: str, text: object, at: float | None = NOW - 400.5, **more: object) -> dict[str, object]:
    content = {"content_type": "text", "parts": [text]} if isinstance(text, str) else text
    return {"author": {"role": role}, "create_time": at, "content": content, "recipient": "all", **more}


def test_of_chatgpts_conversations_only_what_the_person_states_is_read(importing: Importing):
    context = _said("user", {"content_type": "user_editable_context"}, metadata={
        "user_context_message_data": {"about_user_message": "I am a nurse", "about_model_message": "Answer in French"},
    })  # fmt: skip
    spoken = {
        "content_type": "multimodal_text",
        "parts": [{"content_type": "audio_transcription", "text": "I sail"}, {}],
    }
    chats = [
        _chat(
            context, _said("user", "I moved to Lyon"), _said("assistant", "Lyon is a city"), _said("user", "Is it big?")
        ),
        _chat(context, _said("user", spoken, None), _said("assistant", "User has a cat\nUser sings", recipient="bio")),
        _chat(
            _said("user", "x" * 501),
            _said("tool", "Model set context updated."),
            _said("user", "多大？"),
            title="y" * 41,
        ),
    ]
    for outcome in ("6 stored, 0 refused", "0 stored, 6 there already, 0 refused"):
        assert importing.run(json.dumps(chats), "conversations.json") == [
            outcome,
            "3 messages of ChatGPT's user left out: questions, empty ones, and texts of more than 500 characters",
        ]
    rows = {row["content"]: row for row in live(importing.board)}
    assert " · ".join(sorted(rows)) == (
        "Answer in French · I am a nurse · I moved to Lyon · I sail · User has a cat · User sings"
    )
    lyon = rows["I moved to Lyon"]
    assert (lyon["created"], lyon["tags"], lyon["keywords"]) == (NOW - 401, ["chatgpt"], ["Tea"])
    assert rows["I sail"]["created"] == NOW - 501 and rows["User sings"]["source"] == "auto_llm"


def test_a_message_that_chatgpts_user_replaced_is_not_read(importing: Importing):
    chat = _chat(_said("user", "I live in Bonn"))
    chat["mapping"] = {
        "a": {"message": _said("user", "I live in Bonn"), "parent": None},
        "b": {"message": _said("user", "I live in Lyon"), "parent": None},
    }
    importing.run(json.dumps([{**chat, "current_node": "b"}]), "conversations.json")
    assert [row["content"] for row in live(importing.board)] == ["I live in Lyon"]


def test_the_newest_thousand_messages_of_chatgpt_are_read(importing: Importing, tmp_path: Path):
    chats = [_chat(_said("user", f"thing {number}", NOW - number)) for number in range(1100)]
    out = tmp_path / "out.jsonl"
    assert importing.run(json.dumps(chats), "conversations.json", "--out", out) == [
        "1000 written, 0 refused",
        "100 older messages left out: the newest 1000 are read",
    ]
    assert json.loads(out.read_text().splitlines()[-1])["content"] == "thing 0"


@pytest.mark.shortened
def test_other_programs_objects_of_chance_do_no_harm(importing: Importing):
    values = (None, True, -1, 1 << 70, 1.5, "x", "", [], ["x"], {}, {"parts": ["y"], "content_type": "text"})
    importing.new_board()
    for value in values[:: extent(1, 3)]:
        for name in ("author", "create_time", "content", "recipient", "metadata"):
            chat = _chat({**_said("user", "I sail"), name: value})
            told = importing.run(json.dumps([chat, {**_chat(), name: value}, value]), "in.json")
            assert [line for line in told if "stored" in line], (name, value, told)
        for name in ("mapping", "current_node", "title", "create_time"):
            told = importing.run(json.dumps([_chat(_said("user", "I sing")), {**_chat(), name: value}]), "in.json")
            assert [line for line in told if "stored" in line], (name, value, told)


def test_a_converted_file_has_lines_that_a_board_imports(importing: Importing, tmp_path: Path):
    out = tmp_path / "out.jsonl"
    lines = [
        ESP_CLAW,
        _changed(ESP_CLAW, tags=["food"]),
        _changed(ESP_CLAW, id="mem-2", content="Bob " + "sings " * 300),
    ]
    told = importing.run(lines, "memory_records.jsonl", "--out", out)
    assert told == ["line 2: tags: must be a text with commas between.", "2 written, 1 refused"]
    assert imported(importing.board, out.read_text().splitlines()) == ["stored m1", "stored m2"]
    assert [row["content"][:9] for row in live(importing.board)] == ["Ann likes", "Bob sings"]
    assert out.stat().st_mode & 0o777 == 0o600


def test_a_file_goes_to_a_board_or_into_a_file(importing: Importing, tmp_path: Path):
    (tmp_path / "in.md").write_text("- Bob sings\n")
    ran = engram("import", tmp_path / "in.md", "--port", "/dev/ttyNONE", "--out", tmp_path / "out.jsonl")
    assert (ran.status, ran.out) == (2, "") and not (tmp_path / "out.jsonl").exists()
