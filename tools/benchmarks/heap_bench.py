"""Measures what one build of the firmware takes of the heap: its modules, its start, and turns with a scripted model."""

import ast
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engram_host.fake_llm import serving
from heap_builds import ROOT, Build

CHIP_KILOBYTES = 148
"""What a plain ESP32 has left for the heap with Wi-Fi up."""

ROOMY_KILOBYTES = 1024
NAMES = "(table of names)"
_SMALLEST, _LARGEST = 24, ROOMY_KILOBYTES
REST_SECONDS = 200
"""After which a board has done its work in the background and closed the idle link to the model."""

REST_SETTINGS = {"extract.on": False}
"""The turns on the flash were never read for facts: reading all of them would take longer."""

_SECONDS = 60
_BLOCK_BYTES = 16

REPLY = "Here is an answer. " + "It is as long as models like to make them. " * 12
FACT = "The bicycle is kept in the cellar, behind the shelf with the old paint"
RULES: list[dict[str, Any]] = [
    {
        "when": {"contains": "remember", "result": False},
        "reply": "One moment.",
        "calls": [{"name": "memory_store", "arguments": {"content": FACT, "tags": ["bicycle", "cellar"]}}],
    },
    {
        "when": {"contains": "search", "result": False},
        "calls": [{"name": "memory_search", "arguments": {"query": "where is the bicycle kept"}}],
    },
    {"reply": REPLY},
]


@dataclass(frozen=True)
class Case:
    """Lines that are said to the board, and the texts that it must print, each as often as it stands there."""

    name: str
    lines: tuple[str, ...]
    texts: tuple[str, ...]


START = Case("start", (), ("/help lists",))
TURN = Case("turn", ("hello, how are you?",), (REPLY,))
TOOLS = Case("tools", ("please remember my bicycle", "search for it"), ("remembered m", REPLY, REPLY))
COMPARES = Case("compares", ("please remember my bicycle",) * 2, ("remembered m", REPLY, REPLY))
CASES = (START, TURN, TOOLS)
"""The app starts; a turn without tools; a turn that stores a memory, and one that searches.

COMPARES, which only the budgets measure, stores one memory twice: it is compared with the first."""


class BoardFailed(Exception):
    """A run on the board failed; the message is the end of what it printed."""


@dataclass
class Figures:
    """What was measured of one build. Bytes, but for smallest_heap, which is in kilobytes as MicroPython's option has it."""

    modules: dict[str, int] = field(default_factory=dict)
    opening: dict[str, int] = field(default_factory=dict)
    at_start: list[str] = field(default_factory=list)  # modules
    smallest_heap: dict[str, int] = field(default_factory=dict)
    in_use: dict[str, int] = field(default_factory=dict)  # after each case
    peak: dict[str, int] = field(default_factory=dict)  # above what is in use after the start
    after_tools: dict[str, int] | None = None  # in CHIP_KILOBYTES; None if the tools do not pass there
    at_rest: dict[str, int] | None = None  # the same REST_SECONDS later


class Bench:
    """Runs one build on copies of one flash, with a board's settings by dotted name."""

    def __init__(self, build: Build, flash: Path, settings: dict[str, Any]):
        self.build = build
        self._flash = flash
        self._settings = settings

    def with_settings(self, settings: dict[str, Any]) -> "Bench":
        """The same with some settings beside its own."""
        return Bench(self.build, self._flash, self._settings | settings)

    def measure(self, modules: Sequence[str]) -> Figures:
        """All figures of the build; `modules` as modules_in_order() has them."""
        figures = Figures(modules=self.modules(modules))
        figures.opening, figures.at_start = self.opening()
        for case in CASES:
            figures.in_use[case.name] = self.talk(case, ROOMY_KILOBYTES)["used"]
            figures.smallest_heap[case.name], total = self.smallest(case)
            figures.peak[case.name] = total - figures.in_use[START.name]
        if figures.smallest_heap[TOOLS.name] <= CHIP_KILOBYTES:
            figures.after_tools = self.talk(TOOLS, CHIP_KILOBYTES)
            figures.at_rest = self.with_settings(REST_SETTINGS).talk(TOOLS, CHIP_KILOBYTES, REST_SECONDS)
        return figures

    def modules(self, names: Sequence[str]) -> dict[str, int]:
        """The bytes of each module, in an order in which those that it imports are loaded before."""
        return modules_told(self._run(ROOMY_KILOBYTES, "heap_modules", *names))

    def opening(self) -> tuple[dict[str, int], list[str]]:
        """The bytes of each step of the start, and the modules that are loaded then."""
        settings = self._settings | {"llm.url": "http://127.0.0.1:9/v1", "llm.model": "m"}
        with tempfile.TemporaryDirectory() as folder:
            flash = str(shutil.copy(self._flash, folder))
            printed = self._run(
                ROOMY_KILOBYTES, "heap_opening", flash, environment={"ENGRAM_SETTINGS": json.dumps(settings)}
            )
        steps = re.findall(r"^(.+)\t(-?\d+)$", printed, re.MULTILINE)
        loaded = printed.rpartition("modules:")[2].split()
        return {name: int(size) for name, size in steps}, sorted(loaded)

    def smallest(self, case: Case) -> tuple[int, int]:
        """The smallest heap in which a case passes: what it is set to in kilobytes, and its bytes without its own tables."""
        low, high = _SMALLEST, _LARGEST
        told = self.talk(case, high)
        while high - low > 1:
            middle = (low + high) // 2
            try:
                told = self.talk(case, middle)
                high = middle
            except BoardFailed:
                low = middle
        return high, told["used"] + told["free"]

    def talk(self, case: Case, heap_kilobytes: int, rest_seconds: int = 0) -> dict[str, int]:
        """Hold a conversation; the heap some seconds afterwards. BoardFailed if an answer is missing or memory ran out."""
        with tempfile.TemporaryDirectory() as folder, serving(RULES) as server:
            environment = {
                "ENGRAM_FLASH": str(shutil.copy(self._flash, folder)),
                "ENGRAM_LLM_URL": server.url + "/v1",
                "ENGRAM_LLM_MODEL": "m",
                "ENGRAM_SETTINGS": json.dumps(self._settings),
            }
            printed = self._run(
                heap_kilobytes,
                "heap_conversation",
                lines=case.lines,
                environment=environment,
                rest_seconds=rest_seconds,
            )
        for text in case.texts:
            if printed.count(text) < case.texts.count(text):
                raise BoardFailed(printed[-2000:])
        return heap_told(printed)

    def _run(
        self,
        heap_kilobytes: int,
        module: str,
        *arguments: str,
        lines: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
        rest_seconds: int = 0,
    ) -> str:
        """What a module prints that is run on the board; its input ends some seconds after the lines."""
        with subprocess.Popen(
            self.build.command(heap_kilobytes, module, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "MICROPYPATH": self.build.path, **(environment or {})},
        ) as process:
            try:
                if rest_seconds and process.stdin:
                    process.stdin.write("".join(line + "\n" for line in lines))
                    process.stdin.flush()
                    time.sleep(rest_seconds)
                    lines = ()
                printed, problems = process.communicate("".join(line + "\n" for line in lines), timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise BoardFailed(f"{module} did not end within {_SECONDS} seconds.") from None
        if process.returncode or "MemoryError" in printed + problems:
            raise BoardFailed(printed[-1000:] + problems[-2000:])
        return printed


def modules_told(printed: str) -> dict[str, int]:
    """The bytes of each module, and those of the tables that find all names, as board/heap_modules.py prints them."""
    found: dict[str, int] = {}
    names = [
        int(total) - int(data) for data, total in re.findall(r"str_data_bytes=(\d+), n_total_bytes=(\d+)", printed)
    ]
    modules = re.findall(r"^([\w.]+) (-?\d+)$", printed, re.MULTILINE)
    for (name, size), before, after in zip(modules, names[:-1], names[1:], strict=True):
        found[name] = int(size) - (after - before)
    found[NAMES] = names[-1] - names[0]
    return found


def heap_told(printed: str) -> dict[str, int]:
    """The heap as board/heap_conversation.py tells of it, in bytes: used, free, and the largest free block."""
    found = re.search(r"used (\d+) free (\d+)\s.*max free sz: (\d+)", printed, re.DOTALL)
    if not found:
        raise BoardFailed(printed[-2000:])
    used, free, blocks = map(int, found.groups())
    return {"used": used, "free": free, "largest_block": blocks * _BLOCK_BYTES}


def modules_in_order(firmware: Path = ROOT / "firmware") -> tuple[str, ...]:
    """The firmware's modules, each after those that it imports when it is loaded itself."""
    sources = {
        ".".join(path.relative_to(firmware).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted((firmware / "engram").rglob("*.py"))
    }
    ordered: dict[str, None] = {}
    begun: set[str] = set()  # a package may import its own modules

    def add(name: str) -> None:
        if name in sources and name not in begun:
            begun.add(name)
            add(name.rpartition(".")[0])
            for imported in imports_of(sources[name]):
                add(imported)
            ordered[name] = None

    for name in sources:
        add(name)
    return tuple(ordered)


def imports_of(source: Path) -> list[str]:
    """What may be imported by the statements of a module itself, not of its functions."""
    found = []
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return found
