"""The commands of the console: each is documented, and every example prints what the page says."""

import re

import pytest

from engram.channels.console.commands.commands import COMMANDS
from pages import PAGES, fences, headings, in_backticks, read, section
from played import answers, undated

PAGE = "docs/reference/commands.md"
PROMPT = "> "


def test_each_command_has_a_section_and_each_section_a_command():
    assert headings(section(read(PAGE), "## Commands"), 3) == [f"/{name}" for name, _, _ in COMMANDS]


@pytest.mark.parametrize(("name", "usage"), [(name, usage) for name, usage, _ in COMMANDS])
def test_a_section_begins_with_the_commands_usage(name, usage):
    first = fences(section(read(PAGE), f"### /{name}"), "")[0]
    assert first.text.strip() == f"/{name} {usage}".strip()


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_a_command_that_there_is_not(page):
    known = {name for name, _, _ in COMMANDS}
    for code in in_backticks(read(page)):
        named = re.match(r"/([a-z]+)(?: |$)", code)
        assert not named or named[1] in known, code


@pytest.mark.parametrize("page", ["README.md", PAGE])
def test_examples_print_what_the_page_says(page, tmp_path):
    examples = [fence.text for fence in fences(read(page), "console")]
    messages = [line.removeprefix(PROMPT) for text in examples for line in text.splitlines() if _is_typed(line)]
    start, *printed = answers(tmp_path, messages)
    expected = _expected(examples)
    if examples[0].startswith("$ make run\n"):
        assert _fits(start, expected.pop(0)), start
    for message, output, wanted in zip(messages, printed, expected, strict=True):
        assert _fits(output, wanted), f"{message!r} printed\n{output}in place of\n{wanted}"


def _is_typed(line: str) -> bool:
    return line.startswith(PROMPT)


def _expected(examples: list[str]) -> list[str]:
    """What the page says is printed after each message; what stands before the first one comes first."""
    parts: list[str] = []
    for text in examples:
        for line in text.splitlines(keepends=True):
            if _is_typed(line) or line.startswith("$ "):
                parts.append("")
            else:
                parts[-1] += line
    return parts


def _fits(output: str, wanted: str) -> bool:
    """Whether the output is as wanted, where "..." stands for anything and a date for any date."""
    pattern = re.escape(undated(wanted)).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, undated(output), re.DOTALL) is not None
