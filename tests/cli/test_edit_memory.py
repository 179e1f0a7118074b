"""`engram edit`: what a board reports of the change decides what a person reads."""

from pathlib import Path

import pytest

from cli_case import engram, fine
from importing_board import Console, Importing
from movers import live, stored


def test_a_memory_is_changed(importing: Importing, tmp_path: Path):
    importing.board = stored("Ann plays chess", "Bob sings")
    ran = engram("edit", "m2", "--text", "Bob dances", "--sim", tmp_path)
    assert ran.status == 0 and ran.out.splitlines()[1] == "m2 is:  Bob dances (#a)"
    assert [memory["content"] for memory in live(importing.board)] == ["Ann plays chess", "Bob dances"]


def test_a_memory_that_says_that_already_is_left_as_it_is(importing: Importing, tmp_path: Path):
    importing.board = stored("Bob sings")
    ran = engram("edit", "m1", "--text", "Bob sings", "--sim", tmp_path)
    assert ran.status == 1 and "m1 says that already." in ran.err


def test_a_text_that_contains_the_words_of_a_count_changes_nothing_in_the_answer(importing: Importing, tmp_path: Path):
    importing.board = stored("Bob sings")
    ran = engram("edit", "m1", "--text", "x" * 5000 + " 1 changed", "--sim", tmp_path)
    assert ran.status == 1 and "the board says: content: " in ran.err, ran
    assert [memory["content"] for memory in live(importing.board)] == ["Bob sings"]


def test_a_board_that_gives_no_reports_is_not_changed(
    importing: Importing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    importing.board = stored("Bob sings")
    monkeypatch.setattr(Console, "gives_reports", False)
    ran = engram("edit", "m1", "--text", "Bob dances", "--sim", tmp_path)
    assert ran.status == 1 and "`engram board deploy`" in ran.err
    assert [memory["content"] for memory in live(importing.board)] == ["Bob sings"]


def test_a_memory_is_forgotten_by_its_origin_alone(importing: Importing, tmp_path: Path):
    importing.board = stored("Ann plays chess", "Bob sings")
    assert "m2 is forgotten" in fine("forget", "m2", "--keep-turns", "--sim", tmp_path).out
    assert [memory["content"] for memory in live(importing.board)] == ["Ann plays chess"]


@pytest.mark.parametrize(("entry", "status"), [("m9", 4), ("t1", 2)])
def test_what_is_no_memory_of_the_board_is_not_forgotten(importing: Importing, tmp_path: Path, entry: str, status: int):
    importing.board = stored("Bob sings")
    assert engram("forget", entry, "--keep-turns", "--sim", tmp_path).status == status
    assert [memory["content"] for memory in live(importing.board)] == ["Bob sings"]
