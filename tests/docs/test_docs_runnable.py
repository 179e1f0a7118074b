"""Every command that a page shows can be run: its program is there, and takes the words and options that are shown.

A command is a line of an indented block, a line of a console example behind "$ ", or a text in backticks that begins with
`engram`. Commands of make in backticks are checked in test_docs_make.py.
"""

import functools
import importlib.util
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
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
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

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
    missing = [path for path in environment.get("PYTHONPATH", "").split(":") if path and not (ROOT / path).is_dir()]
    if unknown or missing:
        return f"there is no {', '.join([*unknown, *missing])}"
    name, *rest = words
    name = name.removeprefix(OF_SERVER)
    if name == OF_CLONE:
        return _of_engram(rest)
    if Path(name).name in ("python", "python3"):
        return _of_python(rest)
    return PROGRAMS[name](rest) if name in PROGRAMS else _of_file(name, rest)


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


def _of_pip(words: list[str]) -> str:
    asked = {extra for word in words for extra in re.findall(r"\[(.+)\]", word)}
    extras = {name for names in asked for name in names.split(",")}
    return "" if words[0] == "install" and extras <= set(EXTRAS) else f"there are no extras {extras - set(EXTRAS)}"


def _of_python(words: list[str]) -> str:
    if words[0] == "-m":
        words = words[1:]
        if importlib.util.find_spec(words[0]) is None:
            return f"there is no module {words[0]}"
        return _unknown_options(("-m", words[0]), words[1:])
    return _of_script(words[0], words[1:]) if _exists(words[0]) else f"there is no file {words[0]}"


def _of_file(name: str, words: list[str]) -> str:
    if not _exists(name):
        return "there is no such program"
    return _of_script(name, words) if os.access(ROOT / name, os.X_OK) else "it is not executable"


def _of_script(name: str, words: list[str]) -> str:
    missing = [word for word in words if "/" in word and not word.startswith("-") and not _exists(word)]
    return f"there is no {', '.join(missing)}" if missing else _unknown_options((name,), words)


def _unknown_options(program: tuple[str, ...], words: list[str]) -> str:
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    unknown = [option for option in options if f'"{option}"' not in _source(program)]
    return f"it has no {', '.join(unknown)}" if unknown else ""


@functools.cache
def _source(program: tuple[str, ...]) -> str:
    """Return the source of a script, or of the package that `-m` runs."""
    if program[0] != "-m":
        return (ROOT / program[0]).read_text(encoding="utf-8")
    spec = importlib.util.find_spec(program[1])
    assert spec and spec.origin
    return "".join(path.read_text(encoding="utf-8") for path in Path(spec.origin).parent.glob("*.py"))


def _of_sudo(words: list[str]) -> str:
    rest = words[2:] if words[0] == "-u" else words
    return _problem(rest, {})


OF_SYSTEM = ("cp", "docker", "install", "journalctl", "systemctl", "usermod", "useradd")
"""Programs of a server, which the page on operating shows; this computer need not have them."""

PROGRAMS: dict[str, Callable[[list[str]], str]] = {
    "make": _of_make,
    "engram": _of_engram,
    "pip": _of_pip,
    "keyring": lambda words: "",
    "mpremote": lambda words: "",
    "sudo": _of_sudo,
    **{name: lambda words: "" for name in OF_SYSTEM},
}
"""What is checked of a program; keyring and mpremote come with extras of the project's."""


@in_one_case("page", PAGES)
def test_each_command_of_a_page_can_be_run(page: str):
    assert problems(commands(read(page))) == []
