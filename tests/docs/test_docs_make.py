"""The targets of make and its variables: listed by `make help`, documented, and real where a page names them."""

import re
import subprocess

from one_case import in_one_case
from pages import PAGES, ROOT, fences, in_backticks, plain, read, rows, section

PAGE = "docs/design/testing.md"
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
STEPS = {".venv", "companion", "micropython", "mosquitto", "chat-servers", "synapse", "llama", "chromium"}
"""Targets that others stand on and nobody types."""

_CALL = re.compile(r"\bmake((?: [a-z][a-z-]*)+)\b")


def _targets() -> set[str]:
    named = re.findall(r"^([.a-z][a-z-]*):(?!=)", MAKEFILE, re.MULTILINE)
    return set(named) - STEPS


def _documented() -> set[str]:
    return {plain(row[0]) for row in rows(section(read(PAGE), "## The targets of make"))}


def test_help_lists_every_target_with_a_line():
    printed = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = dict(re.findall(r"^ *make ([a-z-]+) +(.+)$", printed, re.MULTILINE))
    assert set(lines) == _targets()


def test_make_alone_is_help():
    help_, alone = (subprocess.run(["make", "-s", *words], cwd=ROOT, capture_output=True) for words in (["help"], []))
    assert alone.stdout == help_.stdout


def test_the_tables_of_targets_and_variables_are_the_makefiles():
    variables = set(re.findall(r"^([A-Z_]+) \?=", MAKEFILE, re.MULTILINE)) | set(re.findall(r"\$\((ARGS)\)", MAKEFILE))
    assert _documented() == _targets() | variables


@in_one_case("page", PAGES)
def test_no_page_names_a_target_that_there_is_not(page):
    text = read(page)
    indented = "\n".join(line for line in text.splitlines() if line.startswith("    "))
    shown = [indented, *in_backticks(text), *(fence.text for fence in fences(text, "console"))]
    for call in _CALL.findall("\n".join(shown)):
        assert set(call.split()) <= _targets(), call


def test_the_two_commands_of_the_readme_are_targets():
    commands = section(read("README.md"), "## Try it")
    assert {"make run", "make test"} <= set(in_backticks(commands))
