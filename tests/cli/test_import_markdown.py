"""`engram import` of Markdown: a board's `/export md`, and what people write by hand."""

import random

import pytest

from board import NOW
from extent import extent
from importing_board import Importing
from markdown_pages import CASES, LIST, LISTED
from movers import MANY, answered, fill, live


def _page(board):
    return "\n".join(answered(board, "/export md")) + "\n"


def _rows(board):
    """What is remembered, in one order."""
    return sorted(live(board), key=lambda row: (row["created"], row["content"]))


def test_a_page_keeps_all_fields_of_a_memory(importing: Importing):
    for seed in range(3):
        random.seed(seed)
        board = fill(importing.new_board(), MANY)
        page, was = _page(board), _rows(board)
        other = importing.new_board()
        assert importing.run(page, "in.md") == [f"{len(was)} stored, 0 refused"]
        assert _rows(other) == was and _page(other) == page


def test_a_page_that_is_imported_where_it_comes_from_changes_nothing(importing: Importing):
    random.seed(9)
    board = fill(importing.new_board(), MANY)
    seq = board.records_store.next_seq
    told = importing.run(_page(board), "in.md")
    assert told == [f"0 stored, {len(live(board))} there already, 0 refused"] and board.records_store.next_seq == seq


def test_a_text_that_was_edited_in_a_page_is_changed(importing: Importing):
    board = importing.board
    board.records.store("Ann plays chess", ["chess"], pinned=True, keywords=["game"])
    board.now += 60
    assert (
        importing.run(_page(board).replace("chess #chess", "go #game"), "in.md")[0] == "0 stored, 1 changed, 0 refused"
    )
    record = board.records.get("m1")
    assert (record["content"], record["tags"], record["pinned"]) == ("Ann plays go", ["game"], True)
    assert record["updated"] == NOW + 60


def test_times_are_those_of_the_pages_zone(importing: Importing):
    board = importing.board
    board.clock.zone_minutes = -210
    board.records.store("It rains", ["a"], expires=NOW + 100)
    page = _page(board)
    assert page.startswith("# Memories, times at -03:30\n\n## 2026-09-21\n\n- It rains #a\n  (10:43:20; ")
    other = importing.new_board()
    importing.run(page, "in.md")
    assert [(row["created"], row["expires"]) for row in live(other)] == [(NOW, NOW + 100)]


def test_a_persons_list_is_read(importing: Importing):
    board = importing.board
    assert importing.run(LIST, "in.md") == ["5 stored, 0 refused", "1 line is in no list and was left out"]
    assert [(row["content"], row["tags"], row["source"]) for row in live(board)] == LISTED


@pytest.mark.parametrize(("page", "rows"), CASES)
def test_marks_of_markdown_are_read(importing: Importing, page: str, rows: list[tuple[str, list[str], list[str]]]):
    board = importing.board
    importing.run(page, "in.md")
    assert [(row["content"], row["tags"], row["keywords"]) for row in live(board)] == rows


def test_a_line_in_parentheses_mentions_a_memory_and_any_other_is_text(importing: Importing):
    page = (
        "- Ann likes tea #food\n  (preference; importance 0.9; pinned; keywords cup, pot)\n- Bob sings\n  (call him)\n"
    )
    board = importing.board
    importing.run(page, "in.md")
    first, second = live(board)
    assert (first["type"], first["importance"], first["pinned"], first["keywords"]) == (
        "preference", 0.9, True, ["cup", "pot"],
    )  # fmt: skip
    assert second["content"] == "Bob sings\n(call him)" and second["tags"] == ["imported"]


def test_the_same_list_again_stores_nothing(importing: Importing):
    for outcome in ("2 stored, 0 refused", "0 stored, 2 there already, 0 refused"):
        assert importing.run("- Ann likes tea #food\n- Bob sings\n", "in.md") == [outcome]


def test_what_cannot_be_read_is_reported_with_its_line(importing: Importing):
    page = (
        (b"- one\n- \xff\xfe\n- #food\n- two\n",) + (b"  more\n" * 100,) * 11 + (b"- " + b"x" * 3000 + b"\n- last\n",)
    )
    told = importing.run(page, "in.md")
    assert told[0] == "line 2: is not UTF-8."
    assert told[1].startswith("line 3: content: must be a text that is not empty")
    assert told[2].startswith("line 4: has ") and told[3].startswith("line 1105: content: has 3000 characters")
    assert told[4] == "2 stored, 4 refused"


@pytest.mark.shortened
def test_pages_of_chance_do_no_harm(importing: Importing):
    pieces = (
        "- ",
        "# ",
        "\n",
        "  ",
        "\t",
        "#a",
        "(",
        ")",
        "; ",
        "\\",
        "&#",
        "12;",
        "x",
        "猫",
        "from a:m1",
        "until ",
        "1. ",
    )
    for seed in range(extent(20, 5)):
        random.seed(seed)
        page = "".join(random.choice(pieces) for _ in range(60))
        importing.new_board()
        told = importing.run(page, "in.md")
        assert [line for line in told if " stored, " in line or line.endswith("refused")]
