"""`make run COMPANION=1`: the companion that it starts is the one that commands find, and that a second board uses."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import get_mosquitto
from cli_case import Ran, engram
from driving import COMMAND, Home, Talk, say, talking
from engram_host.companion.lockfile import running_addresses
from skips import needs_mosquitto
from waiting import wait_until


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a person who sets nothing."""
    return tmp_path_factory.mktemp("person")


def _board(person: Path, name: str) -> Home:
    return Home(person / ".engram" / name).knowing(HOME=str(person), COMPANION="1", EMBEDDING_PROVIDER="none")


@pytest.fixture(scope="module")
def first(person: Path) -> Iterator[Talk]:
    """A board with the companion that is started for it."""
    with talking(_board(person, "sim")) as talk:
        talk.heard("A companion runs beside the board")
        talk.say("remember that my bike is green")
        talk.heard("Remembered as m1")
        yield talk
        assert talk.end() == 0


def _typed(person: Path, *words: str) -> Ran:
    """A command that names no companion."""
    return engram(*words, "--json", HOME=str(person))


def _boards(person: Path) -> list[str]:
    return [each["device"] for each in _typed(person, "device", "list").json if each["heard"]]


def test_commands_find_the_companion_that_was_started_with_the_board(person: Path, first: Talk):
    wait_until("it is copied", lambda: "my bike is green" in _typed(person, "list").out)
    checks = {each["name"]: each["state"] for each in _typed(person, "doctor").json["checks"]}
    assert checks["companion"] == "well"


def test_a_second_board_uses_the_companion_that_runs(person: Path, first: Talk):
    wait_until("the first board is copied", lambda: len(_boards(person)) == 1)
    where = running_addresses(person / ".engram" / "companion")
    with talking(_board(person, "second")) as second:
        second.heard(f"The board uses the companion that runs at {where['http']}.")
        second.say("remember that the kettle is loud")
        second.heard("Remembered as m1")
        wait_until("both boards are copied", lambda: len(_boards(person)) == 2)
        wait_until("a search finds what both know", lambda: _finds(person, "my bike is green", "the kettle is loud"))
        assert second.end() == 0
    assert running_addresses(person / ".engram" / "companion") == where


def _finds(person: Path, *texts: str) -> bool:
    found = _typed(person, "search", "bike kettle", "--words").out
    return all(text in found for text in texts)


@needs_mosquitto
def test_where_mosquitto_is_installed_the_board_uses_it(tmp_path: Path):
    board = _board(tmp_path, "sim").knowing(PATH=f"{get_mosquitto.HOME}:{os.environ['PATH']}")
    with talking(board) as talk:
        talk.heard("Its broker is mqtt://127.0.0.1:")
        talk.say("remember that my bike is green")
        wait_until("it is copied", lambda: "my bike is green" in _typed(tmp_path, "list").out)
        talk.say("/stats")
        talk.heard("mqtt://127.0.0.1:")
        assert talk.end() == 0


def test_a_companion_that_does_not_start_is_a_sentence(home: Home, tmp_path: Path):
    folder = tmp_path / "companion"
    folder.mkdir()
    (folder / "companion.toml").write_text("[http]\ncolour = 1\n")
    ended = say(home.knowing(COMPANION="1", ENGRAM_COMPANION_HOME=str(folder)), "hello", command=COMMAND)
    assert ended.status == 2 and "the companion did not start" in ended.problems and "http.colour" in ended.problems
