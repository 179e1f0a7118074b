"""`engram import` into a board whose firmware runs in this process, on CPython: reports as a person reads them."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from cli_case import engram
from engram.errors import EngramError
from engram.memory.access import OWNER
from engram_host.cli.options import Context
from movers import mover


class Console:
    """A board's console as engram_host.boards.json_lines has it."""

    def __init__(self, board: Any):
        self._board = board

    def ask(self, *, say: str = "", command: str = "") -> Iterator[dict[str, Any]]:
        try:
            for output in self._board.commands.run(OWNER, command):
                if not isinstance(output, int):
                    yield {"line" if isinstance(output, str) else "report": output}
        except EngramError as error:
            yield {"error": str(error)}


class Importing:
    """`board` is the one that is asked; new_board() begins with an empty one."""

    def __init__(self, folder: Path):
        self._folder = folder
        self.new_board()

    def new_board(self) -> Any:
        self.board = mover()
        return self.board

    def run(self, content: Any, name: str = "in.jsonl", *options: str | Path) -> list[str]:
        """What the command prints of a file: bytes, a text, a tuple of these, or a list of objects, one a line."""
        if isinstance(content, list):
            content = "".join(json.dumps(line) + "\n" for line in content)
        pieces = content if isinstance(content, tuple) else (content,)
        file = self._folder / name
        file.write_bytes(b"".join(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces))
        ran = engram("import", file, *options)
        assert ran.status == (0 if ran.out.count(" 0 refused") else 1), ran
        return ran.out.splitlines()

    def talking(self, _context: Context) -> AbstractContextManager[Console]:
        """The board that the command opens in place of a serial port."""
        return nullcontext(Console(self.board))
