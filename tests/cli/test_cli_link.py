"""Commands that reach a board over the link of a companion: no cable, no folder of a simulated board."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli_case import Ran, engram, fine
from engram_host.boards import port as ports
from engram_host.boards.errors import NoPort
from peers import BoardProcess, Companion
from skips import needs_64_bit
from waiting import wait_until

pytestmark = needs_64_bit


@dataclass(frozen=True)
class Linked:
    """A companion that runs, and a board on its link which lets it speak for the owner."""

    companion: Companion
    board: BoardProcess

    @property
    def home(self) -> tuple[str, Path]:
        return "--home", self.companion.home


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Linked]:
    folder = tmp_path_factory.mktemp("link")
    with (
        Companion(folder / "home") as companion,
        BoardProcess(folder / "board", companion.url, "kitchen", 0, 1, **{"companion.chat": "owner"}) as board,
    ):
        wait_until("it is known", lambda: companion.client.get("/v1/devices/kitchen").status_code == 200)
        yield Linked(companion, board)


@pytest.fixture(autouse=True)
def nothing_plugged_in(monkeypatch: pytest.MonkeyPatch):
    def choose_port(named: str) -> str:
        raise NoPort("no board is plugged in.")

    monkeypatch.setattr(ports, "choose_port", choose_port)


def typed(linked: Linked, text: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> Ran:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return engram("chat", "kitchen", *words, *linked.home)


def test_what_is_typed_is_answered_over_the_link(linked: Linked, monkeypatch: pytest.MonkeyPatch):
    ran = typed(linked, "remember that my bike is green\n/recall bike\n/nothing\n", monkeypatch)
    assert ran.status == 0, ran
    first, *_, last = ran.out.splitlines()
    assert first.startswith("Remembered as m") and last.startswith("! /nothing: there is no such command")
    assert "my bike is green" in ran.out.partition("\n")[2]


def test_somebody_else_sees_their_own(linked: Linked, monkeypatch: pytest.MonkeyPatch):
    typed(linked, "remember that my safe opens with 4711\n", monkeypatch)
    assert "4711" not in typed(linked, "/recall safe opens\n", monkeypatch, "--principal", "bob").out


def test_a_memory_is_imported_over_the_link(linked: Linked, tmp_path: Path):
    file = tmp_path / "one.jsonl"
    file.write_text('{"content":"Ada drinks tea"}\n')
    assert fine("import", file, *linked.home, "--json").json["stored"] == 1
    assert "Ada drinks tea" in linked.board.answered("/recall Ada drinks")


def test_an_import_for_a_board_that_is_away_is_not_kept(linked: Linked, tmp_path: Path):
    with Companion(tmp_path / "home") as companion:
        board = BoardProcess(tmp_path / "board", companion.url, "attic", 0, 1, **{"companion.chat": "owner"})
        with board:
            wait_until("it is known", lambda: companion.client.get("/v1/devices/attic").status_code == 200)
        file = tmp_path / "one.jsonl"
        file.write_text('{"content":"Ada drinks tea"}\n')
        ran = engram("import", file, "--home", companion.home)
        # Before it was switched off it may have asked for messages: then this one was offered to it.
        reasons = ("attic is connected and has not taken the message yet", "attic has other messages to answer first")
        assert ran.status == 1 and any(reason in ran.out for reason in reasons)
        assert "Nothing was done." in ran.out or "The board may do it yet." in ran.out
