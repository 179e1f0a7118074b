"""Lists on a terminal: heads above the columns, long cells folded and whole, and a memory that is text and nothing else."""

import io
import re
import sys
from collections.abc import Sequence

import pytest

from engram_host.cli import output

WIDTH = 60
STYLE = re.compile(r"\x1b\[[0-9;]*m")
"""What makes a head bold: it sets no cursor and clears nothing."""

LONG = " ".join(f"word{number:03}" for number in range(60))
MARKUP = "[bold red]paint[/] the [link=http://x.example]fence[/link] :smile: [/nothing]"
STEERING = "ends\x1b[2J\x1b]0;title\x07 here\r\b\x9b5n \u202eback"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(
    monkeypatch: pytest.MonkeyPatch, columns: Sequence[str], rows: Sequence[Sequence[object]], width: int = WIDTH
) -> str:
    """What a table looks like on a terminal of this width, without styles."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(width))
    output.print_table(columns, rows, empty="there is nothing.")
    return STYLE.sub("", terminal.getvalue())


def cell(text: str, head: str) -> str:
    """The last column below a head, its lines put together again."""
    lines = text.splitlines()
    at = lines[0].index(head)
    return "".join(line[at:].rstrip() for line in lines[1:])


@pytest.mark.parametrize("text", [LONG, "x" * 500, "咖啡" * 120], ids=["words", "one word", "wide"])
def test_a_long_cell_is_folded_and_loses_nothing(monkeypatch: pytest.MonkeyPatch, text: str):
    table = shown(monkeypatch, ("id", "text"), [("m1", text)])
    assert len(table.splitlines()) > 5 and cell(table, "text").replace(" ", "") == text.replace(" ", "")


def test_on_a_narrow_terminal_no_line_is_too_wide_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch):
    columns = ("board", "id", "day", "score", "who", "text")
    table = shown(monkeypatch, columns, [("kitchen", "m1", "2026-01-31", "0.812", "owner", LONG)], 40)
    assert max(len(line) for line in table.splitlines()) <= 40
    assert cell(table, "text").replace(" ", "") == LONG.replace(" ", "")


def test_brackets_in_a_memory_are_no_markup(monkeypatch: pytest.MonkeyPatch):
    assert cell(shown(monkeypatch, ("id", "text"), [("m1", MARKUP)], 200), "text") == MARKUP


def test_what_would_steer_the_terminal_is_shown_as_text(monkeypatch: pytest.MonkeyPatch):
    table = shown(monkeypatch, ("id", "text"), [("m1", STEERING)], 200)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", table)
    assert re.findall(r"[a-z]{4,}", table) == ["text", "ends", "title", "here", "back"]


def test_a_line_break_in_a_memory_makes_no_row(monkeypatch: pytest.MonkeyPatch):
    assert len(shown(monkeypatch, ("id", "text"), [("m1", "one\ntwo\r\nthree")]).splitlines()) == 2


def test_what_is_no_terminal_gets_lines_without_heads_that_are_not_folded(monkeypatch: pytest.MonkeyPatch):
    file = io.StringIO()
    monkeypatch.setattr(sys, "stdout", file)
    monkeypatch.setenv("COLUMNS", "20")
    output.print_table(("id", "text"), [("m1", LONG), ("m12", MARKUP)])
    assert file.getvalue() == f"m1   {LONG}\nm12  {MARKUP}\n"
