"""The engine `board`: the store and ranker of the firmware, on the 32-bit MicroPython with the heap of a small board.

Modules come from .mpy, files are on a littlefs in a file of the host; tools/board/eval_conversation.py is the board's half.
The board takes in a conversation, is started again, and answers.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import firmware_build
import get_micropython
from eval_sets import Conversation

HEAP = "136k"
"""About what a board without PSRAM has; 83 KB of it are code, which comes from .mpy here and is frozen there."""


class BoardFailed(Exception):
    """The program on the board failed; the message is the end of what it printed."""


def rank(conversation: Conversation, limit: int, work: Path) -> list[list[str]]:
    """An engine (see eval_retrieval.py)."""
    turns, given, questions, answers = (work / name for name in ("turns", "ids", "questions", "answers"))
    _write(turns, [[turn.session, turn.at, turn.speaker, turn.text, turn.caption] for turn in conversation.turns])
    _write(questions, [question.text for question in conversation.questions])
    _run(conversation.name, work / "flash.bin", "feed", turns, given)
    _run(conversation.name, work / "flash.bin", "ask", questions, answers, limit)
    ids = {
        number: turn.id
        for number, turn in zip(given.read_text(encoding="ascii").split(), conversation.turns, strict=True)
    }
    return [[ids[found] for found in line.split()] for line in answers.read_text(encoding="ascii").splitlines()]


def _write(path: Path, values: list) -> None:
    # As UTF-8: MicroPython's json makes invalid text of a surrogate pair that is written as escapes.
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")


def _run(name: str, *arguments: object) -> None:
    path = firmware_build.compile_small()
    micropython = get_micropython.HOME / "32"
    if not get_micropython.usable(micropython, 32):
        raise BoardFailed("there is no 32-bit MicroPython; `make eval` fetches one where it can.")
    board = subprocess.Popen(
        [str(micropython), "-X", f"heapsize={HEAP}", "-m", "eval_conversation", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "MICROPYPATH": ":".join(str(folder) for folder in path)},
    )
    last: list[str] = []
    for line in board.stdout or ():
        print(f"{name}: {line.rstrip()}", file=sys.stderr, flush=True)
        last = [*last[-20:], line]
    if board.wait():
        raise BoardFailed(f"the board failed at {name}:\n{''.join(last)}")
