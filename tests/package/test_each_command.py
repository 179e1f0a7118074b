"""Every command of docs/reference/cli.md with the base package alone: it works, or one sentence says what it needs."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from engram_host.cli.exit_status import FAILED, FINE, NOT_FOUND, NOT_INSTALLED
from environment import ROOT, Environment, Ran
from one_case import in_one_case

COMPANION, BOARD = "pip install 'engram-mcu[companion]'", "pip install 'engram-mcu[board]'"
ALERTS = "pip install 'engram-mcu[alerts]'"
NOBODY = "no companion answers"
ELSEWHERE = ("--url", "http://127.0.0.1:1")


@dataclass(frozen=True)
class Case:
    """The words behind a command's name, its status, and what it says; `given` is what a person types."""

    words: tuple[str, ...]
    status: int
    says: str
    given: str = ""


CASES = {
    "run": Case((), NOT_INSTALLED, "no micropython 1.25 or newer is on PATH"),
    "serve": Case((), NOT_INSTALLED, COMPANION),
    "search": Case(("tea", *ELSEWHERE), FAILED, NOBODY),
    "show": Case(("m1", *ELSEWHERE), FAILED, NOBODY),
    "list": Case(ELSEWHERE, FAILED, NOBODY),
    "chat": Case(ELSEWHERE, FAILED, NOBODY),
    "export": Case(ELSEWHERE, FAILED, NOBODY),
    "import": Case(("notes.md", "--out", "notes.jsonl"), FINE, "1 written"),
    "backup": Case(("saved.db",), NOT_INSTALLED, COMPANION),
    "restore": Case(("saved.db",), NOT_INSTALLED, COMPANION),
    "repair": Case((), NOT_INSTALLED, COMPANION),
    "api": Case(("GET", "/v1/boards", *ELSEWHERE), FAILED, NOBODY),
    "eval": Case(("sets",), NOT_INSTALLED, COMPANION),
    "doctor": Case((), FAILED, COMPANION),
    "tls": Case(("companion.lan",), NOT_INSTALLED, COMPANION),
    "device add": Case(("kitchen",), NOT_INSTALLED, COMPANION),
    "device rotate": Case(("kitchen",), NOT_INSTALLED, COMPANION),
    "device remove": Case(("kitchen",), NOT_INSTALLED, COMPANION),
    "device list": Case((), NOT_INSTALLED, COMPANION),
    "device mosquitto": Case(("files",), NOT_INSTALLED, COMPANION),
    "token add": Case(("ann",), NOT_INSTALLED, COMPANION),
    "token remove": Case(("ann",), NOT_INSTALLED, COMPANION),
    "token list": Case((), NOT_INSTALLED, COMPANION),
    "bridge add": Case(("telegram",), NOT_INSTALLED, COMPANION),
    "bridge list": Case((), FINE, "there is no bridge yet"),
    "bridge remove": Case(("telegram",), NOT_INSTALLED, COMPANION),
    "bridge reload": Case(ELSEWHERE, FAILED, NOBODY),
    "people list": Case(ELSEWHERE, FAILED, NOBODY),
    "people approve": Case(("ABCDEFGH", *ELSEWHERE), FAILED, NOBODY),
    "people block": Case(("ann", *ELSEWHERE), FAILED, NOBODY),
    "people group": Case(("irc:#home", "mention", *ELSEWHERE), FAILED, NOBODY),
    "alert add": Case((), NOT_INSTALLED, ALERTS, given="json://localhost\n"),
    "alert test": Case((), NOT_FOUND, "there is no address"),
    "alert remove": Case(("1",), NOT_FOUND, "`engram alert test`"),
    "boards": Case(ELSEWHERE, FAILED, NOBODY),
    "page": Case((), FAILED, "engram serve"),
    "board erase": Case(("kitchen", "--yes"), NOT_FOUND, "no companion has run"),
    "board image": Case(("--board", "ESP32_GENERIC_SPIRAM"), NOT_INSTALLED, BOARD),
    "board flash": Case(
        ("--board", "ESP32_GENERIC_SPIRAM", "--firmware", "none.bin"), NOT_FOUND, "none.bin cannot be read"
    ),
    "board deploy": Case(("--port", "/dev/ttyNONE"), NOT_INSTALLED, BOARD),
    "board monitor": Case(("--port", "/dev/ttyNONE"), NOT_INSTALLED, BOARD),
    "board chat": Case(("--port", "/dev/ttyNONE"), NOT_INSTALLED, BOARD),
    "board setup": Case(("--port", "/dev/ttyNONE"), NOT_INSTALLED, BOARD, given="home\nopensesame\n\n"),
    "board backup": Case(("saved.tar.gz", "--port", "/dev/ttyNONE"), NOT_INSTALLED, BOARD),
    "board restore": Case(("none.tar.gz",), NOT_FOUND, "none.tar.gz cannot be read"),
}

_DOCUMENTED = re.findall(
    r"^\| `engram ([a-z ]+)` \|", (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8"), re.MULTILINE
)


EACH = """
import contextlib, io, json, sys
from engram_host.__main__ import main
ran = []
for words, given in {calls}:
    sys.argv[1:], sys.stdin, out, err = words, io.StringIO(given), io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            ran.append([end.code or 0, out.getvalue(), err.getvalue()])
json.dump(ran, sys.stdout)
"""
"""Runs each command, all in one process: to load what they need takes most of the time of each."""


@pytest.fixture(scope="module")
def ran(base: Environment, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """What each documented command printed, and its status."""
    home = tmp_path_factory.mktemp("home")
    (home / "notes.md").write_text("- Ada drinks tea\n")
    names = [name for name in _DOCUMENTED if name in CASES]
    calls = [([*name.split(), *CASES[name].words], CASES[name].given) for name in names]
    whole = base.run(home, "python", "-c", EACH.format(calls=calls))
    assert whole.status == 0, whole
    return {name: Ran(*found) for name, found in zip(names, json.loads(whole.out), strict=True)}


@in_one_case("name", _DOCUMENTED)
def test_a_command_works_or_says_in_a_sentence_what_it_needs(name: str, ran: dict[str, Ran]):
    case, found = CASES[name], ran[name]
    assert (found.status, "Traceback" in found.err) == (case.status, False), found
    assert case.says in found.out + found.err, found
    if case.status not in (FINE, FAILED):
        assert len(found.sentences) == 1 and found.sentences[0].endswith("."), found


def test_the_help_of_each_command_needs_no_extra(base: Environment, tmp_path: Path):
    words = [[*name.split(), "--help"] for name in _DOCUMENTED]
    code = f"from engram_host.cli.commands import main\nfor words in {words}:\n    assert main(words) == 0, words\n"
    ran = base.run(tmp_path, "python", "-c", code)
    assert ran.status == 0 and ran.out.count("Example: engram") >= len(words) and not ran.err, ran


def test_each_documented_command_is_tried():
    assert sorted(CASES) == sorted(_DOCUMENTED)
