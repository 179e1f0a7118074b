"""Sends memories to a board one by one, by its command /import, and counts what it says of each."""

import json
import re
from typing import Any

from engram_host.board.errors import BoardFailed
from engram_host.board.json_lines import Board
from engram_host.cli.on_board import told
from engram_host.cli.problems import Problem

_COUNT = re.compile(r"(\d+) (stored|changed|there already|older than here|forgotten|refused)(?:, |$)")
MOST_TOLD = 100
"""Problems that are told one by one; the others are counted."""


class Sending:
    """`counts` by what became of the lines, `problems` a sentence for each that was refused or came in part."""

    def __init__(self, board: Board):
        self._board = board
        self.counts = {"stored": 0, "refused": 0}
        self.problems: list[str] = []

    def send(self, number: int, fields: dict[str, Any]) -> None:
        """Send what stands in a line of the file. BoardError if the board is gone."""
        try:
            report = list(told(self._board, "/import " + json.dumps(fields, ensure_ascii=False)))
        except (Problem, BoardFailed) as problem:
            self._count("refused", 1)
            self._tell(number, str(problem))
            return
        for line in report:
            counts = _COUNT.findall(line)
            for count, word in counts:
                self._count(word, int(count))
            if line.startswith("put in their place: "):
                self._count("texts put in their place", 1)
            elif not counts:
                self._tell(number, line.removeprefix("line 1: "))

    def _count(self, word: str, count: int) -> None:
        if count:
            self.counts[word] = self.counts.get(word, 0) + count

    def _tell(self, number: int, why: str) -> None:
        if len(self.problems) < MOST_TOLD:
            self.problems.append(f"line {number}: {why}")
