"""The whole conversation on the chip's sizes, in little more heap than a plain ESP32 has; see chip.py."""

import json
from pathlib import Path

import pytest

import chip
import get_micropython


@pytest.fixture(autouse=True, scope="module")
def micropython_32() -> None:
    if not get_micropython.usable(chip.MICROPYTHON, 32):
        pytest.skip("there is no 32-bit MicroPython for this machine")


def test_a_conversation_with_tools_fits(tmp_path: Path, api: str, record_property):
    ended = chip.passes(tmp_path / "home", api)
    record_property("heap", next(line for line in ended.printed.splitlines() if line.startswith("heap")))


def test_offline_commands_fit(tmp_path: Path):
    home = chip.board(tmp_path / "home")
    stored = [f"remember that item {number} is on shelf {number} of the cellar" for number in range(40)]
    ended = chip.run(home, *stored, "what do you know about item 7?", "/memory list 2", "/export", "/compact")
    assert ended.status == 0 and "MemoryError" not in ended.printed + ended.problems
    assert ended.printed.count("Remembered as") == 40 and "item 7 is on shelf 7" in ended.printed


def test_an_import_of_many_objects_fits(tmp_path: Path):
    home = chip.board(tmp_path / "home")
    lines = [
        json.dumps({"content": f"item {number} is on shelf {number} of the cellar", "origin": f"shop:{number}"})
        for number in range(40)
    ]
    ended = chip.run(home, *(f"/import {line}" for line in [*lines, *lines[:3]]), "/export md", "/export")
    assert ended.status == 0 and "MemoryError" not in ended.printed + ended.problems, ended.printed[-2000:]
    assert ended.printed.count("1 stored, 0 refused") == 40 and ended.printed.count("1 there already") == 3
    assert '"engram_export_end":44' in ended.printed and "from shop:39)" in ended.printed


@pytest.mark.parametrize("fault", ["huge", {"kind": "malformed", "after": 9}, {"kind": "cut", "after": 9}, "400"])
def test_faults_of_a_model_fit(tmp_path: Path, api: str, fault: object):
    home = chip.board(tmp_path / "home").having(llm__retries=0, llm__stall_seconds=2)
    with chip.serving([{"reply": "One and two and three.", "fault": fault, "times": 1}, {"reply": "Yes."}]) as server:
        ended = chip.run(home.asking(server.url, api), "hello", "are you there?")
    assert ended.status == 0 and "MemoryError" not in ended.printed + ended.problems
    assert ended.printed.splitlines()[-1] == "Yes."


def test_a_long_message_fits(tmp_path: Path, api: str):
    home = chip.board(tmp_path / "home")
    with chip.serving([{"reply": "Long."}]) as server:
        ended = chip.run(home.asking(server.url, api), "汉字 " * 800, "word " * 1200, "x" * 100_000, "hello")
    assert ended.status == 0 and "memory" not in ended.printed.split("\n", 1)[1], ended.printed[-2000:]
    assert ended.printed.count("Long.") == 3 and "send it in parts" in ended.printed


def test_the_longest_message_is_answered_or_an_error_says_that_it_does_not_fit(tmp_path: Path, api: str):
    home = chip.board(tmp_path / "home")
    with chip.serving([{"reply": "Long."}]) as server:
        ended = chip.run(home.asking(server.url, api), "汉字 " * 1700, "word " * 2300, "hello")
    assert ended.status == 0 and "MemoryError" not in ended.printed + ended.problems, ended.printed[-2000:]
    assert ended.printed.count("Long.") + ended.printed.count("has not enough free memory") == 3
    assert ended.printed.splitlines()[-1] == "Long."


def test_lightweight_mode_fits(tmp_path: Path, api: str):
    append = {"name": "file_append", "arguments": {"file": "MEMORY.md", "text": "A fact of some length. " * 10}}
    rules = [{"when": {"result": False}, "calls": [append]}, {"reply": "Kept."}]
    home = chip.board(tmp_path / "home").having(mode="lightweight")
    with chip.serving(rules) as server:
        ended = chip.run(home.asking(server.url, api), *(f"fact {number}" for number in range(12)), "/memory")
    assert ended.status == 0 and "MemoryError" not in ended.printed + ended.problems, ended.printed[-2000:]
    assert ended.printed.count("Kept.") == 12
