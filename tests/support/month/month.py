"""Plays a simulated month on a board, with restarts and power cuts on the way, and keeps its report.

month.py [DAYS] [SEED]     as a program: prints the report as a table and keeps it in build/bench/month.json
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).resolve().parents[3] / name) for name in ("host", "tools/setup", "tools/build"))

import firmware_build
import get_micropython
import ledger
import life
from ledger import Ledger

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
OUT = ROOT / "build" / "bench" / "month.json"

HEAP = "2m"
"""The smallest PSRAM of a board."""

POWER_CUT = -9
SPENT = ("calls", "tokens", "erases", "programmed", "read", "left")
_COLUMNS = {
    "starts": "starts",
    "cuts": "cuts",
    "calls": "calls",
    "tokens": "tokens",
    "erases": "erases",
    "programmed": "programmed",
    "read": "read",
    "records": "records",
    "records_bytes": "their bytes",
    "left": "left",
    "journal_bytes": "journal",
    "notes_bytes": "notes",
    "intents": "intents",
}
"""Those of the report, with their titles."""
_ON_BOARD = ("month_board", "export_board", "witness", "life", "scripted_month")
_LONGEST_SECONDS = 3600


class Failed(Exception):
    """The board ended in another way than it should."""


@dataclass(frozen=True)
class Stage:
    """The 32-bit MicroPython with the firmware, and what is played there (a name of life.FORMS)."""

    form: str

    def run(self, program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run a program of this folder on the board; Failed if memory runs out, whoever catches that."""
        command = [get_micropython.HOME / "32", "-X", f"heapsize={HEAP}", "-m", program, *map(str, arguments)]
        folders = [_compiled(), *firmware_build.compile_small()]
        environment = os.environ | {"MICROPYPATH": ":".join(map(str, folders))}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=_LONGEST_SECONDS)
        if "MemoryError" in done.stdout + done.stderr or "memory allocation failed" in done.stdout + done.stderr:
            raise Failed(f"the heap of {HEAP} is too small: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done


def _compiled() -> Path:
    """The folder with what runs on the board beside the firmware."""
    folder = ROOT / "build" / "month"
    faulty_flash = ROOT / "tests" / "support" / "power" / "board" / "faulty_flash.py"
    for source in [*(HERE / f"{name}.py" for name in _ON_BOARD), faulty_flash]:
        firmware_build.compile_file(source, folder / f"{source.stem}.mpy", "-O3")
    firmware_build.compile_file(ROOT / "boards" / "SIM" / "flash.py", folder / "flash.mpy", "-O3")
    return folder


@dataclass
class Month:
    """What happened: the report of each day, what was acknowledged, and how often the board began."""

    ledger: Ledger
    days: list[dict[str, Any]] = field(default_factory=list)
    starts: int = 0
    cuts: int = 0
    heaps: list[int] = field(default_factory=list)
    """The highest heap in use on each day, after a collection."""


def play(
    stage: Stage, flash: Path, days: int, seed: int, cuts_a_day: int = 1, tell: Callable[[int], None] | None = None
) -> Month:
    """Play so many days; Failed if the board ends by itself."""
    month = Month(Ledger(stage.form))
    dice = random.Random(seed)
    for day in range(days):
        _play_day(stage, flash, month, day, dice, cuts_a_day)
        if tell:
            tell(day)
    return month


def _play_day(stage: Stage, flash: Path, month: Month, day: int, dice: random.Random, cuts: int) -> None:
    turns = life.FORMS[stage.form].turns
    spent = dict.fromkeys(SPENT, 0)
    first = starts = cut_off = 0
    heap = 0
    while first < turns:
        last = min(turns - 1, first + dice.randrange(3, 20))
        cut = dice.randrange(5, 400) if cut_off < cuts and dice.random() < 0.6 else 0
        done = stage.run("month_board", flash, stage.form, day, first, last, cut, month.ledger.heard)
        if done.returncode not in ((0, POWER_CUT) if cut else (0,)):
            where = f"day {day}, turns {first} to {last}, cut {cut}"
            raise Failed(f"{where}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
        told = [json.loads(line[2:]) for line in done.stdout.splitlines() if line.startswith("> {")]
        # What nobody had heard of when the power failed belongs to the turn that it cut off, the one before the first.
        _take(month, day, told, max(0, first - 1))
        costs = [line for line in told if "spent" in line]
        for name in SPENT:
            spent[name] += costs[-1]["spent"][name]
        heap = max([heap, *(line["heap"] for line in costs)])
        starts += 1
        if done.returncode:
            cut_off += 1
            # Whoever was cut off says the next thing, or the board's night is done again.
            played = [line["turn"] for line in told if "turn" in line]
            first = min(played[-1] + 2 if played else first + 1, turns - 1)
        else:
            first = last + 1
    month.starts += starts
    month.cuts += cut_off
    month.heaps.append(heap)
    month.days[-1].update(spent | {"starts": starts, "cuts": cut_off})


def _take(month: Month, day: int, told: list[dict[str, Any]], cut_off: int) -> None:
    """Enter what the board has told of."""
    book = month.ledger
    for line in told:
        if "opened" in line:
            book.opened(line["opened"])
        elif "line" in line:
            during = line["during"]
            book.line(line, life.said(book.form, day, cut_off if during < 0 else during).text)
        elif "noted" in line:
            file, seq, text = line["noted"]
            book.notes[seq] = (file, text)
        elif "leaves" in line:
            file, waiting = line["leaves"]
            book.note_leaves(file, waiting)
        elif "turn" in line:
            book.turn(day, line)
        elif "day" in line:
            month.days.append(line)


def exports(stage: Stage, flash: Path, days: int) -> dict[str, list[str]]:
    """What each principal's export holds after so many days."""
    contents = {}
    for who in life.MARKS:
        done = stage.run("export_board", flash, stage.form, days, who)
        if done.returncode:
            raise Failed(done.stdout[-3000:] + done.stderr[-3000:])
        contents[who] = done.stdout.splitlines()
    return contents


def table(month: Month) -> list[str]:
    """The report in Markdown."""
    columns = [("day", [day["day"] + 1 for day in month.days])]
    columns += [(title, [day[name] for day in month.days]) for name, title in _COLUMNS.items()]
    columns.append(("heap", month.heaps))
    rows = zip(*([title, "---", *map(str, values)] for title, values in columns), strict=True)
    return [f"| {' | '.join(row)} |" for row in rows]


def report(month: Month, seed: int, problems: list[str]) -> dict[str, Any]:
    """All that is known of a play, for a file."""
    return {
        "seed": seed,
        "starts": month.starts,
        "cuts": month.cuts,
        "reminders": len(month.ledger.reminders),
        "counts": month.ledger.counts,
        "problems": problems,
        "heap": month.heaps,
        "days": month.days,
    }


def main(days: int, seed: int) -> int:
    """Play it, print the report; status 1 if something that was acknowledged is missing."""
    if days < 1:
        print("DAYS must be 1 or more.", file=sys.stderr)
        return 2
    stage = Stage("month")
    with tempfile.TemporaryDirectory() as folder:
        flash = Path(folder) / "flash.bin"
        month = play(stage, flash, days, seed, tell=lambda day: print(f"day {day + 1}", file=sys.stderr, flush=True))
        there = ledger.found(exports(stage, flash, days))
    problems = month.ledger.problems + month.ledger.hasty() + month.ledger.missing(there, life.moment(days, 0))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(report(month, seed, problems), indent=1))
    print("\n".join(table(month)))
    print(f"\n{month.starts} starts, {month.cuts} power cuts, {len(month.ledger.reminders)} reminders,", end=" ")
    print(f"{month.ledger.counts['distillations']} distillations, at most {max(month.heaps)} bytes of heap in use")
    print("\n".join(["missing or wrong:", *problems] if problems else ["nothing that was acknowledged is missing"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else life.DAYS, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
