"""Every command of `engram`: it succeeds in a test, and with --json its stdout is one JSON document, also when it fails.

A command that is added is missing in the tables below, and a test says so.
"""

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli_case import EACH, TALKS, engram, fine
from engram_host.cli.exit_status import FAILED, NOT_FOUND, WRONG_USAGE
from one_case import in_one_case
from peers import ROOT
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

    @property
    def sim(self) -> tuple[str, Path]:
        return "--sim", self.told.board

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

    def with_person(self, name: str) -> str:
        """Somebody who may talk."""
        fine("people", "approve", f"irc:{name}", "--name", name, *self.home)
        return name


Words = tuple[str | Path, ...]

RUN_HERE: dict[str, tuple[Callable[[Scene], Words], str]] = {
    "page": (lambda scene: scene.home, "/signin?code="),
    "boards": (lambda scene: scene.home, DEVICE),
    "search": (lambda scene: ("bike", *scene.home), BIKE),
    "show": (lambda scene: ("m1", *scene.home), BIKE),
    "list": (lambda scene: scene.home, BIKE),
    "export": (lambda scene: ("--out", scene.folder / "out.jsonl", *scene.home), DEVICE),
    "import": (lambda scene: (scene.memories(), *scene.sim), '"stored": 1'),
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
    "people page": (lambda scene: (scene.with_person("ida"), *scene.home), "/signin?code="),
    "people group": (lambda scene: ("irc:#garden", "mention", *scene.home), "irc:#garden"),
}
"""The words that a command is run with here, after its name, and what its answer has to hold."""

RUN_ELSEWHERE = {
    "run": "tests/cli/test_cli_usage.py::test_run_is_the_simulated_board",
    "serve": "tests/cli/test_cli_usage.py::test_serve_logs_one_object_a_line",
    "chat": "tests/cli/test_cli_link.py::test_what_is_typed_is_answered_over_the_link",
    "bridge add": "tests/cli/bridges/test_bridge_command.py::test_a_bridge_is_added_listed_and_removed",
    "api": "tests/cli/test_api_command.py::test_an_answer_of_json_is_printed_indented",
    "alert add": "tests/cli/bridges/test_people_command.py::test_an_address_is_added_tested_and_removed",
    "alert test": "tests/cli/bridges/test_people_command.py::test_an_address_is_added_tested_and_removed",
    "alert remove": "tests/cli/bridges/test_people_command.py::test_an_address_is_added_tested_and_removed",
    "eval": "tests/cli/test_cli_usage.py::test_the_evaluation_writes_what_it_prints",
    "board image": "tests/cli/test_cli_usage.py::test_an_image_of_a_board_is_made",
    "board package": "tests/boards/install/test_board_package.py"
    "::test_the_package_names_all_code_and_nothing_that_is_a_persons",
    "board flash": "tests/boards/test_board_json_output.py::test_a_blank_board_is_flashed",
    "board deploy": "tests/boards/test_board_json_output.py::test_new_code_is_deployed",
    "board backup": "tests/boards/test_board_json_output.py::test_what_is_backed_up_is_restored_to_another_board",
    "board restore": "tests/boards/test_board_json_output.py::test_what_is_backed_up_is_restored_to_another_board",
    "board monitor": "tests/boards/test_board_monitor.py::test_ctrl_right_bracket_ends_it_after_what_was_typed_before",
    "board chat": "tests/e2e/console/test_serial.py::test_chat_talks_with_the_board",
    "board setup": "tests/boards/test_board_setup.py::test_no_secret_is_shown",
}
"""The test that runs a command with status 0, and with --json where it has that."""

FAILS: dict[str, tuple[Words, int]] = {
    "serve": (("--log-level", "loud"), WRONG_USAGE),
    "page": (("--home", "/nowhere/at/all"), FAILED),
    "boards": (NOBODY, FAILED),
    "search": (("bike", *NOBODY), FAILED),
    "show": (("m1", *NOBODY), FAILED),
    "list": (NOBODY, FAILED),
    "export": (("--out", "none.jsonl", *NOBODY), FAILED),
    "import": (("none.jsonl", "--sim", "none"), NOT_FOUND),
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
    "board package": (("--board", "PICO"), WRONG_USAGE),
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
    "people page": (("ann", *NOBODY), FAILED),
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


# --- each command is in a table


@in_one_case("name", EACH)
def test_a_test_runs_the_command_and_it_succeeds(name: str):
    assert (name in RUN_HERE) != (name in RUN_ELSEWHERE), (
        f"`engram {name}` has to stand in one of two tables of {Path(__file__).name}: in RUN_HERE with words that it "
        "succeeds with, or in RUN_ELSEWHERE with the test that runs it with status 0."
    )


@in_one_case("name", sorted(set(EACH) - TALKS))
def test_a_test_lets_the_command_fail_in_json(name: str):
    assert name in FAILS, (
        f"`engram {name}` has to stand in FAILS of {Path(__file__).name} with words that it fails with, and the status."
    )


def test_the_tables_name_no_command_that_there_is_not():
    assert {*RUN_HERE, *RUN_ELSEWHERE, *FAILS} <= set(EACH)


# --- what the tables say is so


@in_one_case("name", RUN_HERE)
def test_a_command_that_succeeds_prints_one_json_document(name: str, told: Told, tmp_path: Path):
    words, held = RUN_HERE[name]
    folder = tmp_path / name.replace(" ", "-")
    folder.mkdir()
    ran = fine(*name.split(), *words(Scene(told, folder)), "--json")
    assert held in json.dumps(ran.json, ensure_ascii=False)


@in_one_case("name", FAILS)
def test_a_command_that_fails_prints_one_json_document_with_the_problem(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    words, status = FAILS[name]
    monkeypatch.chdir(tmp_path)
    ran = engram(*name.split(), *words, "--json", ENGRAM_COMPANION_HOME=str(tmp_path / "home"))
    assert (ran.status, list(ran.json)) == (status, ["problem"]) and ran.json["problem"].endswith(".")


@in_one_case("name", RUN_ELSEWHERE)
def test_the_test_that_is_named_runs_the_command_and_asks_for_status_0(name: str):
    path, _, test = RUN_ELSEWHERE[name].partition("::")
    parts = _parts_of(ast.parse((ROOT / path).read_text(encoding="utf-8")), test)
    assert parts, f"there is no {test} in {path}: name the test that runs `engram {name}`."
    nodes = [node for part in parts for node in ast.walk(part)]
    runs = any(_has_words(node, name.split()) for node in nodes)
    assert runs, f"{test} in {path} does not run `engram {name}`: name the test that does."
    asks = any(_asks_for_success(node) for node in nodes)
    assert asks, f"{test} in {path} does not look whether the status is 0."
    if name not in TALKS:
        is_json = any(isinstance(node, ast.Constant) and node.value == "--json" for node in nodes)
        assert is_json, f"{test} in {path} does not ask for --json."


def _parts_of(module: ast.Module, name: str) -> list[ast.AST]:
    """A function of a module with all that it uses of that module; [] if there is none of that name."""
    defined: dict[str, ast.AST] = {
        node.name: node for node in module.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }
    found: list[str] = [name] if name in defined else []
    for each in found:  # which grows
        used = {node.id for node in ast.walk(defined[each]) if isinstance(node, ast.Name)}
        found += [other for other in defined if other in used and other not in found]
    return [defined[each] for each in found]


def _has_words(node: ast.AST, words: list[str]) -> bool:
    """Whether the words of a command stand one after the other in a call or a list, and in no group of commands."""
    among: list[Any] = node.args if isinstance(node, ast.Call) else getattr(node, "elts", [])
    values = [each.value if isinstance(each, ast.Constant) else None for each in among]
    groups = {name.split()[0] for name in EACH if " " in name}
    places = (at for at in range(len(values)) if values[at : at + len(words)] == words)
    return any(at == 0 or values[at - 1] not in groups for at in places)


def _asks_for_success(node: ast.AST) -> bool:
    """Whether it calls fine(), or compares something with 0."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "fine"
    return isinstance(node, ast.Compare) and any(
        isinstance(each, ast.Constant) and each.value == 0 for each in node.comparators
    )
