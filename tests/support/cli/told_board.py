"""A companion that has all that a simulated board was told; the board is switched off, and its folder is there."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from peers import BoardProcess, Companion
from waiting import wait_until

DEVICE = "kitchen"


class Told(NamedTuple):
    """A companion that has all that a board was told, and the board's folder."""

    companion: Companion
    board: Path


@contextlib.contextmanager
def told_board(folder: Path, tellings: Sequence[str], replacement: str = "") -> Iterator[Told]:
    """The companion of `folder`/home runs as long as the block; a board was told these sentences, another text took the place
    of the first memory, and all is copied.
    """
    with Companion(folder / "home") as companion:
        with BoardProcess(folder / "board", companion.url, DEVICE) as board:
            for telling in tellings:
                board.say(telling)
            wait_until("the copy is whole", lambda: _is_whole(companion, board, len(tellings)))
            if replacement:
                with (folder / "board/memory/memory_records.jsonl").open() as file:
                    origin = f"{json.loads(file.readline())['epoch']:08x}:m1"
                board.answered(
                    "/import " + json.dumps({"content": replacement, "tags": ["note"], "supersedes": origin})
                )
                wait_until("the change is copied", lambda: _is_whole(companion, board, len(tellings), 1))
            board.stop_quietly()
        yield Told(companion, folder / "board")


def _is_whole(companion: Companion, board: BoardProcess, count: int, more: int = 0) -> bool:
    lines = board.lines("records")
    turns = board.lines("journal")
    return (
        sum("content" in line for line in lines) >= count + more
        and companion.have(DEVICE, "records") == lines[-1]["seq"]
        and companion.have(DEVICE, "journal") == turns[-1]["seq"]
        and sum("text" in turn for turn in turns) >= count
    )
