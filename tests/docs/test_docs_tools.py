"""The tools of the model: arguments as in the schemas, examples with the results that the page says."""

import asyncio
import json
import re
import time
from calendar import timegm
from typing import Any

import pytest

from calls import tools_of
from engram.agent.agent import Sink, Turn
from engram.app import App
from engram.errors import ArgumentError
from engram.llm.types import Call
from engram.memory.access import OWNER
from engram.timers.timers import TimerTool
from engram.tools.toolbox import read_arguments
from one_case import in_one_case
from pages import PAGES, fences, headings, in_backticks, plain, read, rows, section

PAGE = "docs/reference/tools.md"
MODES = {mode: {tool.name: tool for tool in tools_of(mode)} for mode in ("full", "lightweight")}
GROUPS: "dict[str, list[Any]]" = {
    "## Full mode": [tool for name, tool in MODES["full"].items() if name not in MODES["lightweight"]],
    "## Lightweight mode": [tool for name, tool in MODES["lightweight"].items() if name not in MODES["full"]],
    "## Both modes": [tool for name, tool in MODES["full"].items() if name in MODES["lightweight"]],
}
TOOLS = [tool for tools in GROUPS.values() for tool in tools]
TIMER = TimerTool(None, None)
GROUPS["## Timers"] = [TIMER]
LATEST = "t4"
"""The turn in which the tools are called."""


@in_one_case("heading", GROUPS)
def test_each_tool_has_a_section_under_its_mode(heading):
    assert headings(section(read(PAGE), heading), 3) == [tool.name for tool in GROUPS[heading]]


@in_one_case("tool", [*TOOLS, TIMER])
def test_the_table_of_a_tools_arguments_is_its_schemas(tool):
    rules = json.loads(tool.rules)
    table = rows(section(read(PAGE), f"### {tool.name}"))
    assert [plain(row[0]) for row in table] == list(rules["properties"])
    assert [plain(row[0]) for row in table if row[2].startswith("required")] == rules["required"]
    for row in table:
        assert row[1] == _wanted(tool.rules, plain(row[0]))


def _wanted(schema: str, name: str) -> str:
    """What an argument must be, in the words of the error that a wrong one gets."""
    required = json.loads(schema)["required"]
    # An object is in no schema; it stands first, so that it is looked at first.
    wrong = {name: {}} | {other: "" for other in required if other != name}
    with pytest.raises(ArgumentError) as caught:
        read_arguments(json.dumps(wrong), schema)
    assert caught.value.argument == name
    return caught.value.problem.removeprefix("must be ").removesuffix(".")


@in_one_case("page", PAGES)
def test_no_page_names_a_tool_that_there_is_not(page):
    known = {tool.name for tool in TOOLS} | {"memory_records"}
    for code in in_backticks(read(page)):
        if re.fullmatch(r"(memory|file|profile)_[a-z]+", code):
            assert code in known, code


def test_examples_have_the_results_that_the_page_says(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: timegm((2026, 1, 31, 14, 5, 0)))
    app = App(str(tmp_path))
    for message in ("I planted tomatoes today", "Let us talk about my bike"):
        asyncio.run(app.ask(message, Sink()))
    toolbox = app.board.toolbox
    for tool in TOOLS:
        app.config.save("mode", "full" if tool.name in MODES["full"] else "lightweight")
        examples = [json.loads(fence.text) for fence in fences(section(read(PAGE), f"### {tool.name}"), "json")]
        assert examples and len(examples) % 2 == 0, tool.name
        for arguments, result in zip(examples[::2], examples[1::2], strict=True):
            turn = Turn(OWNER, int(LATEST[1:]))
            done = asyncio.run(toolbox.answer(Call("1", tool.name, json.dumps(arguments)), turn))
            assert json.loads(done.result) == result, (tool.name, arguments)
