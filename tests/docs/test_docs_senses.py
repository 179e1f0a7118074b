"""The guide to senses: its sessions are played on a board with the senses that it describes."""

import asyncio
import json
import re

import pytest

import support
from engram.llm.types import Call
from engram.memory.access import OWNER
from engram.memory.perceive import perceive
from engram.senses import view
from engram.tools import schemas
from pages import fences, plain, read, rows, section
from perceiving import house
from turns import say

PAGE = "docs/guides/senses.md"
READ = "## Look at readings"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path):
    support.use_root(str(tmp_path))


def _sessions(heading: str) -> list[tuple[str, str]]:
    """The messages of a section's sessions, with what the page says is printed."""
    found: list[tuple[str, str]] = []
    for fence in fences(section(read(PAGE), heading), "console"):
        for part in re.split(r"^> ", fence.text, flags=re.MULTILINE)[1:]:
            message, _, printed = part.partition("\n")
            found.append((message, printed.rstrip("\n")))
    return found


def _heard(board, message: str) -> str:
    return asyncio.run(say(board, message))[1].heard


def test_the_model_sees_the_block_and_asks_as_the_page_says():
    ((message, printed),) = _sessions(READ)
    arguments = {"name": "outside", "days": "2026-09-22"}
    call = Call("c", "sense_recall", json.dumps(arguments))
    board = house(call, printed)
    assert _heard(board, message) == printed
    assert board.model
    first, second = board.model.requests
    assert fences(section(read(PAGE), READ), "text")[0].text[:-1] in first[-1]
    lowest = json.loads(second[-1])["result"]["lowest"]
    assert lowest["value"] in printed and lowest["at"][11:] in printed


def test_the_captions_of_the_page_are_kept():
    board = house()

    class App:
        def perceive(self, caption, kind="photo", at=0, media=""):
            kept.append(perceive(board.clock, board.journal, board.records, caption, kind, at, media))

    kept: list[str] = []
    exec(fences(section(read(PAGE), "## Captions"), "python")[0].text, {"app": App()})
    assert [ref[0] for ref in kept] == ["t", "t", "m"]
    assert board.journal.get(kept[0], OWNER)[0]["text"] in " ".join(section(read(PAGE), "## Captions").split())


def test_the_reference_of_the_tool_has_its_arguments():
    table = rows(section(read("docs/reference/tools.md"), "## Senses"))
    assert plain(table[0][0]) == "sense_recall"
    rules = json.loads(schemas.describe("sense_recall")[1].split("\n")[0])["properties"]
    assert all(f"`{name}`" in table[0][1] for name in rules)
    result = json.dumps(view.run_recall(house().sense_view, OWNER, name="outside"))
    shown = " ".join(plain(row[0]) for row in table[1:])
    assert all(name in shown for name in json.loads(result) if name not in ("name", "unit", "columns", "hours_each"))


def test_an_example_of_the_command_prints_what_the_page_says():
    board = house()
    text = fences(section(read("docs/reference/commands.md"), "### /senses"), "")[1].text
    board.now += 120
    for part in re.split(r"^> ", text, flags=re.MULTILINE)[1:]:
        command, *lines = part.rstrip("\n").split("\n")
        printed = [line for line in board.commands.run(OWNER, command) if isinstance(line, str)]
        assert set(lines) <= set(printed), printed
