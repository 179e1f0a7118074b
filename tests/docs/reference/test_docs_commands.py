"""The commands of the console: each is documented, and every example prints what the page says."""

import re

from engram.channels.console.commands import commands
from engram_host.companion.conversations.chat_messages import OWN as OF_BRIDGES
from one_case import in_one_case
from pages import PAGES, fences, headings, in_backticks, read, section
from played import answers, fits, runs

PAGE = "docs/reference/commands.md"


def test_each_command_has_a_section_and_each_section_a_command():
    assert headings(section(read(PAGE), "## Commands"), 3) == [f"/{name}" for name, _, _ in commands()]


@in_one_case("name, usage", [(name, usage) for name, usage, _ in commands()])
def test_a_section_begins_with_the_commands_usage(name, usage):
    first = fences(section(read(PAGE), f"### /{name}"), "")[0]
    assert first.text.strip() == f"/{name} {usage}".strip()


@in_one_case("page", PAGES)
def test_no_page_names_a_command_that_there_is_not(page):
    known = {name for name, _, _ in commands()} | OF_BRIDGES.keys() | {"json"}  # of programs on the serial line
    for code in in_backticks(read(page)):
        named = re.match(r"/([a-z]+)(?: |$)", code)
        assert not named or named[1] in known, code


@in_one_case("page", ["README.md", "docs/start/first-steps.md", "docs/start/model.md", "docs/guides/timers.md", PAGE])
def test_examples_print_what_the_page_says(page, tmp_path):
    for run in runs([fence.text for fence in fences(read(page), "console")]):
        start, *printed = answers(tmp_path, run.messages, **run.environment)
        assert run.start is None or fits(start, run.start), start
        for message, output, wanted in zip(run.messages, printed, run.wanted, strict=True):
            assert fits(output, wanted), f"{message!r} printed\n{output}in place of\n{wanted}"
