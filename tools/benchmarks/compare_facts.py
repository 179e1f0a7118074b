#!/usr/bin/env python3
"""Compare pairs of facts with the firmware's own code: is the new one the same, a change, similar or different?

    compare_facts.py [--table] [FILE ...]

Each line of the files, or of standard input, is a JSON object {"old": "...", "new": "..."}. For each line the tool prints
{"verdict": "same"}, "changed", "similar" or "different", in order. For a line that is no such object it prints
{"error": "..."} and ends with status 1. Empty lines are skipped. If the lines have "expected" (same, changed or different),
--table prints to stderr how often each verdict was given for each expected one, three rates, and the pairs that are wrong.

The code runs from its source under MicroPython, the 32-bit build where there is one; no package is needed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools/setup"))

import debian
import get_micropython

ROOT = Path(__file__).resolve().parents[2]
BOARD = ROOT / "tools" / "benchmarks" / "board"
SOURCES = (ROOT / "firmware", BOARD, Path(".frozen"))
VERDICTS = ("same", "changed", "similar", "different")
EXPECTED = ("same", "changed", "different")
HEAP = "8m"
"""Enough to compile the modules; what a comparison itself needs is bounded, see tests/firmware/memory/records/test_dedup.py."""


class BoardFailed(Exception):
    """The program under MicroPython failed; the message is the end of what it printed."""


class BadLine(ValueError):
    """A line is no pair of facts; the message is a sentence that says why."""


@dataclass
class Pair:
    """What one line asks for, and what came of it: a verdict, or an error."""

    old: str = ""
    new: str = ""
    expected: str | None = None
    verdict: str = ""
    error: str = ""

    def answer(self) -> str:
        """The line that is printed for it."""
        return json.dumps({"error": self.error} if self.error else {"verdict": self.verdict})


def read(line: str) -> Pair:
    """The pair of a line; raises BadLine."""
    try:
        value = json.loads(line)
    except ValueError as problem:
        raise BadLine(f"is no JSON: {problem}.") from None
    if not isinstance(value, dict):
        raise BadLine('is no JSON object; it must be {"old": "...", "new": "..."}.')
    expected = value.get("expected")
    if expected is not None and expected not in EXPECTED:
        raise BadLine(f"expected: must be one of {', '.join(EXPECTED)}.")
    return Pair(_text(value, "old"), _text(value, "new"), expected)


def _text(value: dict, name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str):
        raise BadLine(f"{name}: {'must be a text' if name in value else 'is missing'}.")
    try:
        text.encode()
    except UnicodeError:
        raise BadLine(f"{name}: is no valid Unicode.") from None
    return text


def read_all(lines: Iterable[bytes]) -> list[Pair]:
    """A pair for each line that is not empty; a bad line's pair has an error that names the line's number."""
    pairs = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            pairs.append(read(line.decode()))
        except UnicodeError:
            pairs.append(Pair(error=f"line {number}: is no valid UTF-8."))
        except BadLine as problem:
            pairs.append(Pair(error=f"line {number}: {problem}"))
    return pairs


def micropython() -> Path:
    """The 32-bit MicroPython, which has the chip's object sizes, or the 64-bit one where that cannot be had."""
    try:
        return get_micropython.ensure(32)
    except debian.Unavailable:
        return get_micropython.ensure(64)


def compare(pairs: list[Pair]) -> None:
    """Set the verdicts of all pairs without an error."""
    asked = [pair for pair in pairs if not pair.error]
    if not asked:
        return
    with tempfile.TemporaryDirectory() as folder:
        # As UTF-8: MicroPython's json makes invalid text of a surrogate pair that is written as escapes.
        lines = [json.dumps([pair.old, pair.new], ensure_ascii=False) + "\n" for pair in asked]
        path = Path(folder) / "pairs"
        path.write_text("".join(lines), encoding="utf-8")
        done = subprocess.run(
            [micropython(), "-X", f"heapsize={HEAP}", BOARD / "compare_lines.py", path],
            capture_output=True,
            text=True,
            env={**os.environ, "MICROPYPATH": ":".join(map(str, SOURCES))},
        )
    verdicts = done.stdout.split()
    if done.returncode or len(verdicts) != len(asked):
        raise BoardFailed((done.stdout + done.stderr)[-2000:])
    for pair, verdict in zip(asked, verdicts, strict=True):
        pair.verdict = verdict


@dataclass
class Rates:
    """What counts about the verdicts: facts that would be lost, facts that would be hidden, and changes that are found."""

    wrongly_same: list[Pair]
    wrongly_changed: list[Pair]
    found: int
    changes: int

    def __str__(self) -> str:
        share = 100 * self.found / self.changes if self.changes else 0
        wrong = f"wrongly same {len(self.wrongly_same)}, wrongly changed {len(self.wrongly_changed)}"
        return f"{wrong}, changes found {self.found} of {self.changes}, {share:.1f} %"


def rates(pairs: list[Pair]) -> Rates:
    """The rates of the pairs of which the right verdict is known."""
    changes = [pair for pair in pairs if pair.expected == "changed" and not pair.error]
    wrong = [pair for pair in pairs if pair.expected and pair.expected != pair.verdict and not pair.error]
    return Rates(
        [pair for pair in wrong if pair.verdict == "same"],
        [pair for pair in wrong if pair.verdict == "changed"],
        sum(pair.verdict == "changed" for pair in changes),
        len(changes),
    )


def table(pairs: list[Pair]) -> str:
    """How often each verdict was given for each expected one, the rates, and the pairs that are wrong."""
    counts = Counter((pair.expected, pair.verdict) for pair in pairs if pair.expected and not pair.error)
    found = rates(pairs)
    rows = [f"{'expected':12}" + "".join(f"{verdict:>11}" for verdict in VERDICTS)]
    for expected in EXPECTED:
        rows.append(f"{expected:12}" + "".join(f"{counts[expected, verdict]:>11}" for verdict in VERDICTS))
    rows.append(str(found))
    for pair in found.wrongly_same + found.wrongly_changed:
        rows.append(f"{pair.verdict}, not {pair.expected}: {pair.old!r}, {pair.new!r}")
    return "\n".join(rows)


def main(arguments: list[str]) -> int:
    """Answer all lines; status 1 if one was bad."""
    parser = argparse.ArgumentParser(description="Compare pairs of facts: same, changed, similar or different.")
    parser.add_argument("--table", action="store_true", help='compare with "expected" and print a table to stderr')
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE", help="JSON lines; standard input if not given")
    given = parser.parse_args(arguments)
    try:
        data = b"\n".join([path.read_bytes() for path in given.files] or [sys.stdin.buffer.read()])
        pairs = read_all(data.split(b"\n"))
        compare(pairs)
    except (OSError, debian.Unavailable, BoardFailed) as problem:
        print(f"compare_facts: {problem}", file=sys.stderr)
        return 1
    for pair in pairs:
        print(pair.answer())
    if given.table:
        print(table(pairs), file=sys.stderr)
    return 1 if any(pair.error for pair in pairs) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
