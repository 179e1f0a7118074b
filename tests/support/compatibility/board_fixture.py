"""The flash of an earlier version in tests/data, what it has to hold, and how the present code reads it on each runtime."""

import json
import lzma
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import firmware_build
import get_micropython
from engram_host.boards import flash as flashing

HERE = Path(__file__).resolve().parent
DATA = firmware_build.ROOT / "tests" / "data" / "flash-0.1"
FLASH = DATA / "flash.bin.xz"
EXPECTED = DATA / "expected.json"
SEARCHES = DATA / "searches.json"
"""What searches find on that flash with today's ranking, once the indexes are made anew: by state, caller and query."""

RUNTIMES = ("cpython", "64", "32")
"""As in tests/firmware: CPython and the 64-bit build on a folder of the host, the 32-bit build from .mpy on a littlefs."""

SECONDS = 120
HEAP = "4m"
"""What is read is kept until it is printed: this is no test of a small heap."""

State = dict[str, Any]


def flash() -> bytes:
    """The image of the flash."""
    return lzma.decompress(FLASH.read_bytes())


def unpack(data: bytes, folder: Path) -> Path:
    """Write the files of an image into a folder; the folder."""
    reader = flashing.LittlefsReader(lambda at, size: data[at : at + size])
    for path in reader.sizes():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(reader.content(path))
    return folder


def usable(runtime: str) -> bool:
    """Whether this machine has a runtime."""
    return runtime == "cpython" or bool(get_micropython.usable(get_micropython.HOME / runtime, int(runtime)))


def run(runtime: str, program: str, *arguments: object) -> str:
    """What a program of this folder prints on a runtime."""
    root = firmware_build.ROOT
    source = [root / "firmware", root / "boards" / "SIM", root / "tests" / "support" / "firmware"]
    compiled = [firmware_build.FIRMWARE, firmware_build.SIM, firmware_build.SUPPORT]
    path = compiled if runtime == "32" else source
    command, variable = [sys.executable], "PYTHONPATH"
    if runtime != "cpython":
        command, variable = [str(get_micropython.HOME / runtime), "-X", f"heapsize={HEAP}"], "MICROPYPATH"
        path = [*path, Path(".frozen")]
    done = subprocess.run(
        [*command, str(HERE / program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, variable: ":".join(map(str, path))},
    )
    assert not done.returncode and "Traceback" not in done.stderr, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def read(runtime: str, data: bytes, folder: Path, now: int, *steps: str) -> list[State]:
    """What a board with this flash told at each `see` of some steps; it works on a copy in an empty folder."""
    if runtime == "32":
        (folder / "flash.bin").write_bytes(data)
        place: tuple[object, object] = ("/flash", folder / "flash.bin")
    else:
        place = (unpack(data, folder / "files"), "-")
    printed = run(runtime, "read_board.py", *place, now, *steps)
    return [json.loads(line[2:]) for line in printed.splitlines() if line.startswith("> ")]


def with_searches(state: State, searches: dict[str, Any]) -> State:
    """A state in which each caller's searches find something else."""
    callers = {caller: {**seen, "searches": searches[caller]} for caller, seen in state["callers"].items()}
    return {**state, "callers": {caller: _without_own_notes(caller, seen) for caller, seen in callers.items()}}


def _without_own_notes(caller: str, seen: dict[str, Any]) -> dict[str, Any]:
    """What a caller sees: in a workspace, unlike in earlier versions, only its notes, and no board of those had any."""
    if not caller.endswith(" in the garden"):
        return seen
    commands = dict(seen["commands"])
    lines = commands["/memory"]
    commands["/memory"] = lines[: lines.index("MEMORY.md:")] if "MEMORY.md:" in lines else lines
    return {**seen, "notes": {}, "commands": commands}


def searches_of(state: State) -> dict[str, Any]:
    """What the searches of each caller find in a state."""
    return {caller: seen["searches"] for caller, seen in state["callers"].items()}


def shortened(state: State, bodies: dict[str, Any]) -> State:
    """A state in which each memory and turn is named by its id and crc32; `bodies` gets what they are."""

    def named(line: Any) -> Any:
        if line is None:
            return None
        text = json.dumps(line, sort_keys=True, ensure_ascii=False)
        name = line.get("id") or f"t{line['seq']}"
        ref = f"{name} {crc32(text.encode()):08x}"
        bodies[ref] = line
        return ref

    callers = {}
    for caller, seen in state["callers"].items():
        sessions = [[*session[:4], [named(turn) for turn in session[4]]] for session in seen["sessions"]]
        callers[caller] = {**seen, "memories": [named(line) for line in seen["memories"]], "sessions": sessions}
    return {**state, "callers": callers}


_FACT = re.compile(r"\b[mtsi]?\d[\d:.-]*\b")


def facts(lines: list[str] | None) -> list[str] | None:
    """Of what a command answers that which no change of its wording may change: ids, dates, times, counts, in their order."""
    return None if lines is None else _FACT.findall("\n".join(lines))


def differences(expected: Any, found: Any, path: str = "") -> Iterator[str]:
    """Where two states differ, a line for each place."""
    if path.count("/") == 4 and "/commands/" in path:
        expected, found = facts(expected), facts(found)
    if expected == found:
        return
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted({*expected, *found}):
            yield from differences(expected.get(key), found.get(key), f"{path}/{key}")
    elif isinstance(expected, list) and isinstance(found, list) and "/searches/" not in path:
        missing = [one for one in expected if one not in found]
        more = [one for one in found if one not in expected]
        yield f"{path}: missing {missing[:5]}, more {more[:5]}" if missing or more else f"{path}: in another order"
    else:
        yield f"{path}: expected {expected!r}, found {found!r}"


def dump(value: Any, depth: int = 0, lines_down_to: int = 4) -> str:
    """JSON with a line for each value down to a depth, so that a change of it can be read."""
    if depth == lines_down_to or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    inside = ",\n".join(
        " " * (depth + 1) + json.dumps(key, ensure_ascii=False) + ":" + dump(one, depth + 1, lines_down_to)
        for key, one in value.items()
    )
    return "{\n" + inside + "\n" + " " * depth + "}"
