"""Boards whose memory moves: exports and imports as a person does them, and what may be compared of two boards."""

import json
import random

from board import DAY, NOW, Board, commands_of
from engram.memory.access import OWNER
from support import rounds

NAMES = (
    "content", "tags", "keywords", "type", "importance", "source", "scope", "created", "updated", "pinned", "expires",
)  # fmt: skip

MANY = rounds(40, 10)


def mover(**limits):
    """A board with commands."""
    board = Board(**limits).configure()
    board.commands = commands_of(board)
    return board


def restarted(board):
    """The same board after a restart."""
    board.restart()
    board.configure()
    board.commands = commands_of(board)
    return board


def answered(board, line, caller=OWNER):
    """The lines that a command answers."""
    return [line for line in board.commands.run(caller, line) if isinstance(line, str)]


def exported(board, caller=OWNER):
    """The objects of an export, its first and last line and the texts among them."""
    return [json.loads(line) for line in answered(board, "/export", caller)]


def memories(board, caller=OWNER):
    """The lines of an export that are memories."""
    return [line for line in exported(board, caller) if "content" in line]


def imported(board, lines, caller=OWNER):
    """Return the answers to imports of objects, or of an export's lines."""
    lines = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    lines = [line for line in lines if not line.startswith('{"engram_export')]
    return [said for line in lines for said in answered(board, "/import " + line, caller)]


def told(record):
    """What of a record does not depend on the board, with the defaults."""
    shown = {name: record[name] for name in NAMES if name in record}
    for name, default in (("keywords", []), ("type", "fact"), ("importance", 0.5), ("source", "manual")):
        shown.setdefault(name, default)
    shown.setdefault("scope", "all")
    shown.setdefault("pinned", False)
    return shown


def live(board, caller=OWNER):
    """What is remembered, oldest first."""
    return [told(record) for record in board.records.newest(caller)][::-1]


WORDS = (
    "apple", "boat", "猫狗鱼", "دلفين", "🎉", 'he said "no"', "C:\\dir\\", "a\nb", "\n\n- list #tag", "# head", "(pinned)",
    "é́", "\x1b[31m", "\x85", "\u202e", "&#10;", "\\#", "  two", "1. one", "tab\there", "'", "{}", "null",
)  # fmt: skip
TAGS = ("food", "家", "big-cats", "🎉", "a.b", "x(y)")


def _record():
    """A random content and fields that a record may have."""
    content = (
        " ".join(random.choice(WORDS) for _ in range(1 + random.getrandbits(3))) + " " + str(random.getrandbits(20))
    )
    more: dict = {"tags": [TAGS[(random.getrandbits(4) + at) % len(TAGS)] for at in range(1 + random.getrandbits(1))]}
    if random.getrandbits(1):
        more["keywords"] = [random.choice(WORDS) for _ in range(1 + random.getrandbits(1))]
    if random.getrandbits(1):
        more["type"] = random.choice(
            ("decision", "preference", "convention", "code_context", "pattern", "event", "device")
        )
    if random.getrandbits(1):
        more["importance"] = random.getrandbits(7) % 101 / 100
    if random.getrandbits(1):
        more["pinned"] = True
    if random.getrandbits(1):
        more["expires"] = NOW + 400 * DAY + random.getrandbits(20)
    if random.getrandbits(1):
        more["source"] = random.choice(("auto_llm", "auto_rule", "distilled", "import"))
    if random.getrandbits(1):
        more["scope"] = random.choice(("all", "user:owner"))
    return content, more


def fill(board, count):
    """Live as a person does: memories are stored, changed, replaced, forgotten and used."""
    refs = []
    for _ in range(count):
        board.now += random.getrandbits(12)
        content, more = _record()
        if refs and random.getrandbits(2) == 0:
            ref = refs.pop(random.getrandbits(8) % len(refs))
            kind = random.getrandbits(2)
            if kind == 0:
                board.records.forget(ref)
                continue
            if kind == 1:
                board.records.update(ref, {"content": content})
                refs.append(ref)
                continue
            more["supersedes"] = ref
            more["scope"] = board.records.get(ref).get("scope", "all")
        stored = board.records.store(content, more.pop("tags"), **more)
        refs.append(stored.id)
        if random.getrandbits(1):
            board.records.used(refs[-1])
    return board


def comparable(lines):
    """Lines of an export without what is made anew on each board."""
    return [{name: value for name, value in line.items() if name not in ("id", "turns")} for line in lines]


def rows(board):
    """The memories of an export, as far as they are the same on each board."""
    return comparable(memories(board))


def stored(*contents):
    """A board that remembers some texts."""
    board = mover()
    for content in contents:
        board.records.store(content, ["a"])
    return board
