"""Lists on a terminal: heads above the columns, long cells folded and whole, and a memory that is text and nothing else."""

import contextlib
import fcntl
import io
import json
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from engram_host.cli import output
from peers import ROOT, Companion
from sending import Sent
from warm_companion import fork

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


def test_the_heads_stand_above_their_columns(monkeypatch: pytest.MonkeyPatch):
    lines = shown(monkeypatch, ("id", "day", "text"), [("m12", "2026-01-31", "tea"), ("m1", "", "bike")]).splitlines()
    assert lines[0].split() == ["id", "day", "text"]
    assert lines[1].index("2026") == lines[0].index("day")
    assert lines[1].index("tea") == lines[2].index("bike") == lines[0].index("text")


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


def test_no_rows_are_a_sentence_without_heads(monkeypatch: pytest.MonkeyPatch):
    assert shown(monkeypatch, ("id", "text"), []) == "there is nothing.\n"


def test_what_is_no_terminal_gets_lines_without_heads_that_are_not_folded(monkeypatch: pytest.MonkeyPatch):
    file = io.StringIO()
    monkeypatch.setattr(sys, "stdout", file)
    monkeypatch.setenv("COLUMNS", "20")
    output.print_table(("id", "text"), [("m1", LONG), ("m12", MARKUP)])
    assert file.getvalue() == f"m1   {LONG}\nm12  {MARKUP}\n"


# --- a command on a terminal


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a companion with a board that remembers what makes trouble in a table."""
    with Companion(tmp_path_factory.mktemp("tables")) as companion:
        board = Sent(companion.posted)
        board.keep(f"{MARKUP[:40]}\x1b[2J")
        board.sync()
        yield companion.home


def _on_a_terminal(*words: str | Path) -> tuple[int, str]:
    """The status of a command whose stdout is a terminal, and what that was sent."""
    screen, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
    variables = {"PATH": os.environ["PATH"], "TERM": "xterm", "PYTHONPATH": f"{ROOT / 'host'}:{ROOT / 'firmware'}"}
    process = fork([str(word) for word in words], variables, theirs, theirs)
    os.close(theirs)
    sent = b""
    with contextlib.suppress(OSError):  # that is how a terminal ends
        while piece := os.read(screen, 4096):
            sent += piece
    os.close(screen)
    return process.wait(20), sent.decode().replace("\r\n", "\n")


def test_list_is_a_table_as_wide_as_its_terminal(home: Path):
    status, sent = _on_a_terminal("list", "--home", home)
    table = STYLE.sub("", sent)
    lines = table.splitlines()
    assert status == 0 and lines[0].split() == ["id", "day", "state", "tags", "memory"]
    assert len(lines) > 2 and max(len(line) for line in lines) <= WIDTH and "\x1b" not in table
    assert cell(table, "memory").replace(" ", "").startswith(MARKUP[:40].replace(" ", ""))


def test_json_on_a_terminal_is_json(home: Path):
    status, sent = _on_a_terminal("list", "--home", home, "--json")
    assert status == 0 and json.loads(sent)["entries"][0]["line"]["content"].startswith(MARKUP[:40])
