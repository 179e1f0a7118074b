"""Every command of `engram`: it succeeds in a test, and with --json its stdout is one JSON document, also when it fails.

A command that is added is missing in the tables below, and a test says so.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli_case import EACH, TALKS, engram, fine
from engram_host.cli.exit_status import FAILED, NOT_FOUND, WRONG_USAGE
from one_case import in_one_case
from told_board import DEVICE, Told, told_board

BIKE = "my bike is green"
NOBODY = ("--url", "http://127.0.0.1:1")


@dataclass(frozen=True)
class Scene:
    """A companion that runs and has all that a simulated board was told, that board switched off, and an empty folder."""

    told: Told
    folder: Path

    @property
    def home(self) -> tuple[str, Path]:
        return "--home", self.told.companion.home

    def saved(self) -> Path:
        """A backup of the companion's database."""
        fine("backup", self.folder / "saved.db", *self.home)
        return self.folder / "saved.db"

    def restored(self) -> Path:
        """A folder with a database that nobody has open."""
        fine("restore", self.saved(), "--home", self.folder / "other")
        return self.folder / "other"

    def memories(self) -> Path:
        """A file with a memory."""
        file = self.folder / "one.jsonl"
        file.write_text('{"content":"Ada drinks tea"}\n')
        return file

    def with_token(self) -> tuple[str | Path, ...]:
        """A device's name that has a token, and the folder that has it."""
        where = ("--home", self.folder / "tokens")
        fine("device", "add", "attic", *where)
        return "attic", *where

    def with_operator(self) -> tuple[str | Path, ...]:
        """The name of an operator's token, and the folder that has it."""
        where = ("--home", self.folder / "operators")
        fine("token", "add", "ann", *where)
        return "ann", *where

    def with_bridge(self) -> tuple[str | Path, ...]:
        """A folder with a bridge."""
        (self.folder / "companion.toml").write_text('[bridges.irc]\nserver = "irc.example.org:6697"\n')
        return "--home", self.folder


Words = tuple[str | Path, ...]

RUN_HERE: dict[str, tuple[Callable[[Scene], Words], str]] = {
    "page": (lambda scene: scene.home, "/signin?code="),
    "boards": (lambda scene: scene.home, DEVICE),
    "search": (lambda scene: ("bike", *scene.home), BIKE),
    "show": (lambda scene: ("m1", *scene.home), BIKE),
    "list": (lambda scene: scene.home, BIKE),
    "export": (lambda scene: ("--out", scene.folder / "out.jsonl", *scene.home), DEVICE),
    "import": (lambda scene: (scene.memories(), "--out", scene.folder / "out.jsonl"), '"written": 1'),
    "backup": (lambda scene: (scene.folder / "saved.db", *scene.home), "saved.db"),
    "restore": (lambda scene: (scene.saved(), "--home", scene.folder / "other"), "saved.db"),
    "repair": (lambda scene: ("--home", scene.restored()), "lines_set_aside"),
    "doctor": (lambda scene: scene.home, '"well": true'),
    "tls": (lambda scene: ("companion.lan", "--home", scene.folder / "home"), "companion.lan"),
    "device add": (lambda scene: ("attic", "--home", scene.folder), "token"),
    "device rotate": (lambda scene: scene.with_token(), "token"),
    "device remove": (lambda scene: scene.with_token(), '"removed": true'),
    "device list": (lambda scene: scene.with_token()[1:], "attic"),
    "token add": (lambda scene: ("ann", "--read-only", "--home", scene.folder), '"read_only": true'),
    "token remove": (lambda scene: scene.with_operator(), '"removed": true'),
    "token list": (lambda scene: scene.with_operator()[1:], "ann"),
    "device mosquitto": (lambda scene: (scene.folder / "files", *scene.with_token()[1:]), "files"),
    "board erase": (lambda scene: (*scene.with_token(), "--yes"), '"erased": "attic"'),
    "bridge list": (lambda scene: scene.with_bridge(), "irc.example.org:6697"),
    "bridge remove": (lambda scene: ("irc", *scene.with_bridge()), '"removed": true'),
    "bridge reload": (lambda scene: scene.home, "[]"),
    "people list": (lambda scene: scene.home, '"people": []'),
    "people approve": (lambda scene: ("irc:ann", *scene.home), "irc:ann"),
    "people block": (lambda scene: ("irc:mallory", *scene.home), '"is_blocked": true'),
    "people group": (lambda scene: ("irc:#garden", "mention", *scene.home), "irc:#garden"),
}
"""The words that a command is run with here, after its name, and what its answer has to hold."""

RUN_ELSEWHERE = {
    *("run", "serve", "chat", "bridge add", "api", "alert add", "alert test", "alert remove", "eval"),
    *("board image", "board flash", "board deploy", "board backup", "board restore"),
    *("board monitor", "board chat", "board setup"),
}
"""Commands that tests of their own run with status 0."""

FAILS: dict[str, tuple[Words, int]] = {
    "serve": (("--log-level", "loud"), WRONG_USAGE),
    "page": (("--home", "/nowhere/at/all"), FAILED),
    "boards": (NOBODY, FAILED),
    "search": (("bike", *NOBODY), FAILED),
    "show": (("m1", *NOBODY), FAILED),
    "list": (NOBODY, FAILED),
    "export": (("--out", "none.jsonl", *NOBODY), FAILED),
    "import": (("none.jsonl",), NOT_FOUND),
    "backup": (("saved.db",), NOT_FOUND),
    "restore": (("none.db",), NOT_FOUND),
    "repair": ((), NOT_FOUND),
    "eval": (("no-such-folder",), NOT_FOUND),
    "doctor": (("--bogus",), WRONG_USAGE),
    "tls": (("https://companion.lan",), WRONG_USAGE),
    "device add": (("Bad Name",), WRONG_USAGE),
    "device rotate": (("nobody",), NOT_FOUND),
    "device remove": (("nobody",), NOT_FOUND),
    "device list": (("--home", "/dev/null/none"), WRONG_USAGE),
    "token add": (("operator",), WRONG_USAGE),
    "token remove": (("nobody",), NOT_FOUND),
    "token list": (("--home", "/dev/null/none"), WRONG_USAGE),
    "device mosquitto": (("/dev/null/none",), WRONG_USAGE),
    "board erase": (("nobody", "--yes"), NOT_FOUND),
    "board image": (("--board", "PICO"), WRONG_USAGE),
    "board flash": (("--board", "ESP32_GENERIC_SPIRAM", "--firmware", "none.bin"), NOT_FOUND),
    "board deploy": (("--port", "/dev/ttyNONE"), NOT_FOUND),
    "board backup": (("b.tar.gz", "--port", "/dev/ttyNONE"), NOT_FOUND),
    "board restore": (("none.tar.gz", "--port", "/dev/ttyNONE"), NOT_FOUND),
    "bridge add": (("pigeon",), WRONG_USAGE),
    "bridge list": (("--bogus",), WRONG_USAGE),
    "bridge remove": (("nobody",), NOT_FOUND),
    "bridge reload": (NOBODY, FAILED),
    "people list": (NOBODY, FAILED),
    "people approve": (("ABCDEFGH", *NOBODY), FAILED),
    "people block": (("ann", *NOBODY), FAILED),
    "people group": (("irc:#garden", "mention", *NOBODY), FAILED),
    "alert add": (("--bogus",), WRONG_USAGE),
    "alert test": ((), NOT_FOUND),
    "alert remove": (("1",), NOT_FOUND),
}
"""The words that a command fails with, and the status. What `doctor` finds is an answer, see test_cli_doctor.py."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    folder = tmp_path_factory.mktemp("each")
    (folder / "notes").mkdir()
    (folder / "notes" / "tea.md").write_text("# Tea\n")
    (folder / "home").mkdir(mode=0o700)
    (folder / "home" / "companion.toml").write_text(f'[folders]\npaths = ["{folder / "notes"}"]\n')
    with told_board(folder, [f"remember that {BIKE}"]) as told:
        yield told


def test_each_command_is_in_a_table_of_those_that_succeed_and_in_that_of_those_that_fail():
    # One that is added has words in RUN_HERE that it succeeds with, or a test of its own, and words in FAILS.
    assert not RUN_HERE.keys() & RUN_ELSEWHERE
    assert {*RUN_HERE, *RUN_ELSEWHERE} == set(EACH)
    assert set(EACH) - TALKS <= set(FAILS) <= set(EACH)


@in_one_case("name", RUN_HERE)
def test_a_command_that_succeeds_prints_one_json_document(name: str, told: Told, tmp_path: Path):
    words, held = RUN_HERE[name]
    folder = tmp_path / name.replace(" ", "-")
    folder.mkdir()
    ran = fine(*name.split(), *words(Scene(told, folder)), "--json")
    assert held in json.dumps(ran.json, ensure_ascii=False)


@in_one_case("name", FAILS)
def test_a_command_that_fails_says_the_problem_in_a_sentence_or_in_one_json_document(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    words, status = FAILS[name]
    monkeypatch.chdir(tmp_path)
    where = {"ENGRAM_COMPANION_HOME": str(tmp_path / "home")}
    plain, ran = engram(*name.split(), *words, **where), engram(*name.split(), *words, "--json", **where)
    assert (plain.status, plain.out) == (status, "") and plain.err.splitlines()[-1].startswith("engram ")
    assert (ran.status, list(ran.json)) == (status, ["problem"]) and ran.json["problem"].endswith(".")
