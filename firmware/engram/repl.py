"""Reads a stopped board's memory from the prompt, without the app and without a change to the flash.

    >>> from engram import repl
    >>> repl.show()              # how much there is
    >>> repl.records()           # all memories, one a line
    >>> repl.turns()             # the conversation, oldest first; turns("s3") for one session
    >>> inspect.profile()
    >>> for line in repl.lines("memory/memory_records"): ...       # every line of a log as a dict

Each takes `folder`, where the memory is ("" is the flash's root).
"""

import os
import sys

from engram import log_line, text
from engram.clock import Clock

_BUFFER = log_line.MAX_LINE


def lines(log: str, folder: str = ""):
    """Yield every undamaged line of a log as a dict, oldest first."""
    place, _, name = (folder + "/" + log).rpartition("/")
    segments = [file for file in os.listdir(place or "/") if file.startswith(name + ".") and file.endswith(".jsonl")]
    # Sealed segments by number, the live one last: "0" sorts before "j".
    segments.sort()
    buffer = bytearray(_BUFFER)
    for segment in segments:
        with open(place + "/" + segment, "rb") as file:
            for _, line, ended in log_line.lines(file, buffer):
                if log_line.is_whole(line, ended):
                    yield log_line.decode(line)  # pyright: ignore


def records(folder: str = "") -> None:
    """Show the live memories."""
    for record in _live_records(folder):
        _show("%-7s %s  [%s]" % (record["id"], record["content"], ", ".join(record.get("tags", ()))))


def turns(session: str = "", folder: str = "") -> None:
    """Show the turns of all sessions, or of one."""
    clock = Clock()
    for line in _live_turns(folder):
        if session in ("", line["sid"]):
            who = line["who"] + (", forwarded from " + line["forwarded"] if "forwarded" in line else "")
            shown = line["seq"], line["sid"], clock.minute(line["at"]), who, line["text"]
            _show("t%-6d %-5s %s  %s: %s" % shown)


def profile(folder: str = "") -> None:
    """Show the profile's files."""
    for name in sorted(os.listdir(folder + "/profile")):
        if name.endswith(".md"):
            with open(folder + "/profile/" + name, "rb") as file:
                _show("--- " + name + "\n" + text.decode(file.read()))


def show(folder: str = "") -> None:
    """Show how much there is."""
    _show("memories: %d" % len(_live_records(folder)))
    _show("turns: %d" % sum(1 for _ in _live_turns(folder)))


def _live_turns(folder: str):
    """Yield the turns that were not forgotten, whose sessions were not deleted."""
    gone, dropped = set(), set()
    for line in lines("journal/journal", folder):
        if line.get("op") == "redact":
            gone.add(line["turn"])
        elif line.get("op") == "show":
            gone.discard(line["turn"])
        elif line.get("op") == "drop":
            dropped.add(line["sid"])
    for line in lines("journal/journal", folder):
        if "text" in line and line["seq"] not in gone and line["sid"] not in dropped:
            yield line


def _live_records(folder: str) -> list:
    latest = {}
    for line in lines("memory/memory_records", folder):
        ref = line.get("id")
        if ref is None:
            continue
        for gone in [ref] + line.get("with", []) if line.get("op") == "forget" else [line.get("supersedes")]:
            if gone in latest:
                latest[gone]["live"] = False
        if "content" in line:
            latest[ref] = line
        if line.get("restores") in latest:
            latest[line["restores"]]["live"] = True
    return sorted([line for line in latest.values() if line.get("live", True)], key=lambda line: int(line["id"][1:]))


def _show(line: str) -> None:
    sys.stdout.write(text.printable(line) + "\n")
