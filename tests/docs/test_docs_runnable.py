"""Every command that a page shows can be run: its program is there, and takes the words and options that are shown.

A command is a line of an indented block, a line of a console example behind "$ ", or a text in backticks that begins with
`engram`. Commands of make in backticks are checked in test_docs_make.py.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from engram_host.cli.commands import app
from one_case import in_one_case
from pages import PAGES, ROOT, fences, in_backticks, read, without_fences

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
VARIABLES = set(re.findall(r"^([A-Z_]+) \?=", MAKEFILE, re.MULTILINE)) | {"ARGS"}
OF_RUN = {"ENGRAM_HOME", "ENGRAM_LLM_URL", "ENGRAM_LLM_MODEL", "ENGRAM_LLM_API", "ENGRAM_LLM_KEY", "LLM", "REPL"}
"""Variables of the environment that `make run` takes, too; a test of the settings compares them with the code."""
OF_CLONE = ".venv/bin/engram"
"""Where `make` puts the command, see tests/tools/test_bootstrap.py."""
OF_SERVER = "/opt/engram/bin/"
"""Where the page on operating installs it."""
OF_TESTS = {"E2E_BOARD", "TEST_SETS"}

COMMAND: Any = get_command(app)

_ASSIGNED = re.compile(r"([A-Z][A-Z0-9_]*)=(.*)", re.DOTALL)
_BEGINS_LIST = re.compile(r"\s*(?:[-*]|\d+\.) ")


def _indented(text: str) -> Iterator[str]:
    """The lines of indented blocks; those that go on with a list's item have three columns more."""
    depth = 4
    is_block, before = False, ""
    for line in without_fences(text).splitlines():
        if _BEGINS_LIST.match(line):
            depth = 7
        elif line and not line.startswith(" "):
            depth = 4
        is_block = line.startswith(" " * depth) and (is_block or not before.strip())
        if is_block:
            yield line.strip()
        before = line


def commands(text: str) -> list[str]:
    """All commands of a page."""
    console = "\n".join(fence.text for fence in fences(text, "console"))
    typed = re.findall(r"^\$ (.+)$", console, re.MULTILINE)
    named = [code for code in in_backticks(text) if code.startswith("engram ")]
    return [*_indented(text), *typed, *named]


def problems(lines: list[str]) -> list[str]:
    """The commands that cannot be run, each with the reason."""
    found: list[str] = []
    folder = ROOT
    for line in lines:
        words = shlex.split(line)
        assigned = [match for word in words if (match := _ASSIGNED.fullmatch(word))]
        environment = {match[1]: match[2] for match in assigned[: _leading(words)]}
        words = words[len(environment) :]
        if words[0] == "cd":
            folder = ROOT / words[1] if words[1] == "/path/to/engram" else Path(words[1])
            continue
        if folder != ROOT and not str(folder).endswith("engram"):
            continue  # in a tree of somebody else's, such as MicroPython's
        problem = _problem(words, environment)
        if problem:
            found.append(f"{line}: {problem}")
    return found


def _leading(words: list[str]) -> int:
    """How many words are assignments before the command."""
    return next((place for place, word in enumerate(words) if not _ASSIGNED.fullmatch(word)), len(words))


def _problem(words: list[str], environment: dict[str, str]) -> str:
    unknown = set(environment) - VARIABLES - OF_RUN - OF_TESTS - {"PYTHONPATH"}
    if unknown:
        return f"there is no {', '.join(unknown)}"
    name, *rest = words
    name = name.removeprefix(OF_SERVER)
    if name == "sudo":
        return _problem(rest[2:] if rest[0] == "-u" else rest, {})
    if name in (OF_CLONE, "engram"):
        return _of_engram(rest)
    if name == "make":
        return _of_make(rest)
    known = name in OTHERS or name.startswith("python") or name == ".venv/bin/python" or _exists(name)
    return "" if known and all(map(_is_there, rest)) else "there is no such program or file"


def _is_there(word: str) -> bool:
    """True unless a word is the path of a file of the project that is not there."""
    return not re.match(r"(?:tools|tests|host)/", word) or _exists(word)


def _of_make(words: list[str]) -> str:
    targets = set(re.findall(r"^([.a-z][a-z-]*):(?!=)", MAKEFILE, re.MULTILINE))
    for word in words:
        match = _ASSIGNED.fullmatch(word)
        if match and match[1] not in VARIABLES | OF_RUN | {"COMPANION"}:
            return f"make takes no {match[1]}"
        if not match and word not in targets:
            return f"make has no target {word}"
        if match and match[1] == "ARGS":
            return "".join(f"{path} is missing" for path in re.findall(r"tests/[\w/.]+", match[2]) if not _exists(path))
    return ""


def _exists(path: str) -> bool:
    return any(ROOT.glob(path))


def _of_engram(words: list[str]) -> str:
    command = COMMAND
    rest = list(words)
    while rest and not rest[0].startswith("-") and hasattr(command, "commands"):
        if rest[0].isupper():
            return ""  # a placeholder such as NAME
        if rest[0] not in command.commands:
            return f"there is no command {rest[0]}"
        command = command.commands[rest.pop(0)]
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    unknown = [word for word in rest if word.startswith("--") and word not in known | {"--help"}]
    return f"there is no option {', '.join(unknown)}" if unknown else ""


OTHERS = {
    *("cp", "docker", "install", "journalctl", "keyring", "mpremote", "pip", "systemctl", "usermod", "useradd"),
    *("python", "python3"),
}
"""Programs that are not the project's."""


@in_one_case("page", PAGES)
def test_each_command_of_a_page_can_be_run(page: str):
    assert problems(commands(read(page))) == []
