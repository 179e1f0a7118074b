"""The engine `board`: the store and ranker of the firmware, on the 32-bit MicroPython with the heap of a small board.

Modules come from .mpy, files are on a littlefs in a file of the host; board_script.py is the board's half. The board takes in
a conversation, is started again, and answers.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from engram_host.boards.file_set import WITHOUT_LINES, compile_module
from engram_host.evaluation.sets import Conversation, EvaluationFailed
from engram_host.firmware import BOARDS, CLONE, FIRMWARE

HEAP = "148k"
"""What a board without PSRAM has, as in `make heap`; 83 KB of it are code, which comes from .mpy here and is frozen there."""

_SCRIPT = Path(__file__).with_name("board_script.py")

_LAST_LINES = 20
"""Of what the board printed, in the sentence on why it failed."""


class NoBoardEngine(EvaluationFailed):
    """No 32-bit MicroPython is there to run the firmware."""


class BoardEngine:
    """Ranks on a 32-bit `micropython`, which imports the compiled firmware and the simulated board's flash from `path`."""

    def __init__(self, micropython: Path, path: Sequence[Path]):
        self._micropython = micropython
        self._path = path

    def rank(self, conversation: Conversation, limit: int, work: Path) -> list[list[str]]:
        """An engine (see run.py). EvaluationFailed, BoardError."""
        turns, given, questions, answers = (work / name for name in ("turns", "ids", "questions", "answers"))
        (work / "board_script.mpy").write_bytes(compile_module(_SCRIPT, *WITHOUT_LINES))
        _write(turns, [[turn.session, turn.at, turn.speaker, turn.text, turn.caption] for turn in conversation.turns])
        _write(questions, [question.text for question in conversation.questions])
        self._run(conversation.name, work, "feed", turns, given)
        self._run(conversation.name, work, "ask", questions, answers, limit)
        ids = {
            number: turn.id
            for number, turn in zip(given.read_text(encoding="ascii").split(), conversation.turns, strict=True)
        }
        return [[ids[found] for found in line.split()] for line in answers.read_text(encoding="ascii").splitlines()]

    def _run(self, name: str, work: Path, *arguments: object) -> None:
        path = [work, *self._path, Path(".frozen")]
        command = [str(self._micropython), "-X", f"heapsize={HEAP}", "-m", "board_script", str(work / "flash.bin")]
        board = subprocess.Popen(
            [*command, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "MICROPYPATH": ":".join(str(folder) for folder in path)},
        )
        last: list[str] = []
        for line in board.stdout or ():
            sys.stderr.write(f"{name}: {line.rstrip()}\n")
            last = [*last[-_LAST_LINES:], line]
        if board.wait():
            raise EvaluationFailed(f"the board failed at {name}:\n{''.join(last)}")


def own_board(work: Path) -> BoardEngine:
    """The engine with the clone's own 32-bit MicroPython; it compiles the firmware into the folder `work`.

    NoBoardEngine, BoardError.
    """
    micropython = CLONE / "build" / "micropython" / "32" if CLONE else None
    if micropython is None or not micropython.is_file():
        raise NoBoardEngine(
            "there is no 32-bit MicroPython: `make eval` in a clone of Engram downloads one; other engines need none."
        )
    for folder, sources in (
        (FIRMWARE, (FIRMWARE / "engram").rglob("*.py")),
        (BOARDS / "SIM", (BOARDS / "SIM").glob("*.py")),
    ):
        for source in sources:
            target = work / source.relative_to(folder).with_suffix(".mpy")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(compile_module(source, *WITHOUT_LINES))
    return BoardEngine(micropython, [work])


def _write(path: Path, values: list) -> None:
    # As UTF-8: MicroPython's json makes invalid text of a surrogate pair that is written as escapes.
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")
