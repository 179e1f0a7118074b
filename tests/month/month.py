"""Plays a simulated month on a board, with restarts and power cuts on the way, and keeps its report.

month.py [DAYS] [SEED]     as a program: prints the report as a table and keeps it in build/bench/month.json
"""

import json
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import firmware_build
import get_micropython
import life

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
HEAP = "512k"
"""The code takes about 250 KB of it, as all modules are loaded from .mpy."""

POWER_CUT = -9
_SPENT = ("calls", "tokens", "erases", "programmed", "read")
OUT = ROOT / "build" / "bench" / "month.json"


class Failed(Exception):
    """The board ended in another way than it should."""


@dataclass
class Month:
    """What happened: the report of each day, what was acknowledged, and how often the board began."""

    days: list[dict[str, Any]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """What was said and acknowledged, in order, without commands."""
    remembered: dict[str, str] = field(default_factory=dict)
    """Whose it is, by the id of each memory that a person was told of."""
    undone: set[str] = field(default_factory=set)
    """What /undo took back."""
    reminders: list[str] = field(default_factory=list)
    starts: int = 0
    cuts: int = 0
    heap: int = 0


def command(program: str, *arguments: object) -> tuple[list[str], dict[str, str]]:
    """How a program of this folder is started on the board."""
    micropython = get_micropython.HOME / "32"
    folders = [firmware_build.FIRMWARE, firmware_build.SIM, HERE, ROOT / "tools" / "board", Path(".frozen")]
    environment = {"MICROPYPATH": ":".join(str(folder) for folder in folders)}
    return [str(micropython), "-X", f"heapsize={HEAP}", str(HERE / program), *map(str, arguments)], environment


def play(flash: Path, days: int, turns: int, seed: int, cuts_a_day: int = 1) -> Month:
    """Play so many days of so many turns each; Failed if the board ends by itself."""
    month = Month()
    dice = random.Random(seed)
    for day in range(days):
        spent: dict[str, int] = dict.fromkeys(_SPENT, 0)
        first = life.TURNS - turns
        cuts = cuts_a_day
        while first < life.TURNS:
            last = min(life.TURNS - 1, first + dice.randrange(3, 20))
            cut = dice.randrange(5, 400) if cuts and dice.random() < 0.6 else 0
            told, status = _start(flash, day, first, last, cut)
            month.starts += 1
            played = [line["turn"] for line in told if "turn" in line]
            for line in told:
                if "turn" in line:
                    _note(month, day, line)
                elif "spent" in line:
                    month.heap = max(month.heap, line["spent"]["heap"])
                    for name in _SPENT:
                        spent[name] += line["spent"][name]
                elif "day" in line:
                    month.days.append(line)
            if status:
                cuts -= 1
                month.cuts += 1
                # Whoever was cut off says the next thing, or the board's night is done again.
                first = min(played[-1] + 2 if played else first + 1, life.TURNS - 1)
            else:
                first = last + 1
        month.days[-1].update(spent)
    return month


def _note(month: Month, day: int, line: dict[str, Any]) -> None:
    """Keep what was acknowledged in a turn."""
    text = life.said(day, line["turn"]).text
    if not text.startswith("/") and not line["answer"]:
        month.said.append(text)
    for notice in line["notices"]:
        if notice.startswith("remembered "):
            month.remembered[notice.split()[1].rstrip(":")] = line["who"]
        elif notice.startswith("reminder: "):
            month.reminders.append(notice)
    if text == "/undo":
        month.undone.update(
            word for answer in line["answer"] for word in answer.replace(":", " ").split() if word[:1] == "m"
        )


def _start(flash: Path, day: int, first: int, last: int, cut: int) -> tuple[list[dict[str, Any]], int]:
    line, environment = command("month_board.py", flash, day, first, last, cut)
    done = subprocess.run(line, capture_output=True, text=True, env=environment, timeout=3600)
    if done.returncode not in ((0, POWER_CUT) if cut else (0,)):
        raise Failed(f"day {day}, turns {first} to {last}, cut {cut}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return [json.loads(each[2:]) for each in done.stdout.splitlines() if each.startswith("> {")], done.returncode


def contents(flash: Path, who: str) -> list[str]:
    """What a principal's export holds."""
    line, environment = command("export_board.py", flash, who)
    done = subprocess.run(line, capture_output=True, text=True, env=environment, timeout=600)
    if done.returncode:
        raise Failed(done.stdout[-3000:] + done.stderr[-3000:])
    return done.stdout.splitlines()


def main(days: int, seed: int) -> None:
    """Play it and print the report."""
    firmware_build.compile_all()
    with tempfile.TemporaryDirectory() as folder:
        month = play(Path(folder) / "flash.bin", days, life.TURNS, seed)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(
        json.dumps({"days": month.days, "starts": month.starts, "cuts": month.cuts, "heap": month.heap}, indent=1)
    )
    names = ("day", "records", "records_bytes", "journal_bytes", "trash_bytes", "notes_bytes", "intents", *_SPENT)
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for each in month.days:
        print("| " + " | ".join(str(each[name]) for name in names) + " |")
    print(
        f"{month.starts} starts, {month.cuts} power cuts, at most {month.heap} bytes of heap in use after a collection"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else life.DAYS, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
