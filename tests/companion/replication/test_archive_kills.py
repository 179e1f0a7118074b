"""The archive of a real board with a real companion, kill -9 in between: every memory is somewhere, and once."""

import random
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from extent import extent
from peers import BoardProcess, Companion
from server_process import ServerProcess
from skips import needs_64_bit
from waiting import wait_until

pytestmark = needs_64_bit
MOST = 10
WORDS = ("anchor", "bridge", "candle", "dragon", "engine", "forest", "garden", "hammer", "island", "jacket", "kettle")


def _fact(at: int) -> str:
    """Contents of which none is near another."""
    return f"{WORDS[at % 11]}{at} {WORDS[at * 5 % 11]}{at * 3} {WORDS[at * 7 % 11]}{at * 7}"


def _archived(companion: Companion, device: str) -> list[str]:
    try:
        answer = companion.client.get(f"/v1/devices/{device}/archive", params={"limit": 1000})
    except httpx.TransportError:
        return []
    return [each["line"]["content"] for each in answer.json()] if answer.status_code == 200 else []


def _live(board: BoardProcess) -> list[str]:
    """What is live by the board's log."""
    latest: dict[str, str] = {}
    for line in board.lines("records"):
        if "content" in line:
            latest[line["id"]] = line["content"]
        elif line.get("op") in ("forget", "leave", "archive"):
            latest.pop(line["id"], None)
    return sorted(latest.values())


def _left(board: BoardProcess) -> list[str]:
    """Return what left for lack of room and is still on the board's flash."""
    lines = {line["seq"]: line for line in board.lines("records")}
    gone = [lines[line["was"]] for line in lines.values() if line.get("op") == "leave" and line["was"] in lines]
    return sorted({line["content"] for line in gone})


HURRY = 5
"""The boards look after their memory every second."""

MOMENTS = (0.1, 0.3, 0.6, 0.9, 1.1)
"""Of a kill, in seconds after the last message: most happens when the board looks after its memory."""


def _say_and_wait(board: BoardProcess, at: int) -> None:
    board.say("remember that " + _fact(at))
    wanted = _fact(at)
    wait_until(f"{wanted} is stored", lambda: any(line.get("content") == wanted for line in board.lines("records")))


def _has_sent_all(board: BoardProcess) -> bool:
    told = board.answered("/stats")
    return "connected to" in told and "not connected" not in told and "lines to send" not in told


def _play(folder: Path, kills: int, seed: int) -> None:
    numbers = random.Random(seed)
    with ExitStack() as stack:
        companion = stack.enter_context(Companion(folder / "companion"))
        board = stack.enter_context(
            BoardProcess(
                folder / "board",
                companion.url,
                "kitchen",
                hurry=HURRY,
                **{"records.most": MOST, "companion.search": "always"},
            )
        )
        stored: list[str] = []
        for _ in range(kills):
            for _ in range(3):
                _say_and_wait(board, len(stored))
                stored.append(_fact(len(stored)))
            if numbers.random() < 0.4:
                board.do("/compact")
            time.sleep(numbers.choice(MOMENTS) + numbers.random() / HURRY)
            victim: ServerProcess = numbers.choice([companion, board])
            victim.kill()
            victim.start()
        board.say("hello")  # so that it notices at once that its companion was killed
        wait_until("room was made", lambda: len(_live(board)) < MOST, 90)
        board.do("/compact")
        wait_until("both agree", lambda: _has_sent_all(board))

        def is_whole() -> bool:
            everywhere = _live(board) + _archived(companion, "kitchen") + _left(board)
            return sorted(everywhere) == sorted(stored)

        wait_until("each memory is somewhere, and once", is_whole, 60)
        assert _archived(companion, "kitchen")
        assert "IT HAS LOST" not in board.answered("/stats")


@pytest.mark.shortened
def test_after_many_kills_every_memory_is_somewhere_once(tmp_path: Path):
    _play(tmp_path, kills=extent(60, 4), seed=3)


def test_what_is_archived_is_found_read_and_forgotten(tmp_path: Path):
    with Companion(tmp_path / "companion") as companion:
        settings = {"records.most": MOST, "companion.search": "always", "companion.timeout_ms": 10_000}
        with BoardProcess(tmp_path / "board", companion.url, "kitchen", hurry=HURRY, **settings) as board:
            for at in range(MOST + 1):
                _say_and_wait(board, at)
            wait_until("some are archived", lambda: _archived(companion, "kitchen"), 30)
            gone = _archived(companion, "kitchen")[0]
            ref = f"m{next(line['seq'] for line in board.lines('records') if line.get('content') == gone)}"
            wait_until("it has left the flash", lambda: _has_left(board, gone))
            wait_until("it is found", lambda: f"{ref} " in board.answered("/recall " + gone))
            assert gone in board.answered("/memory show " + ref)
            assert "with the companion" in board.answered("/stats")
            companion.kill()
            board.say("hello")  # which it cannot send
            wait_until("the board notices", lambda: "cannot be reached now" in board.answered("/stats"))
            assert "not connected" in board.answered("/memory show " + ref)
            assert "forgets it for good" in board.answered("/forget " + ref)
            companion.start()
            wait_until("it is forgotten there too", lambda: gone not in _archived(companion, "kitchen"))


def _is_told(board: BoardProcess) -> bool:
    """Compact; whether the lines on what was archived have left. They stay as long as the companion may lack them."""
    board.do("/compact")
    return "archive" not in [line.get("op") for line in board.lines("records")]


def _has_left(board: BoardProcess, content: str) -> bool:
    """Compact; whether a memory has left. It stays until the board has heard that the companion has its archiving."""
    board.do("/compact")
    return content not in [line.get("content") for line in board.lines("records")]


@pytest.mark.soak
def test_a_companion_that_lost_its_database_is_reported_loudly(tmp_path: Path):
    with ExitStack() as stack:
        companion = stack.enter_context(Companion(tmp_path / "companion"))
        board = stack.enter_context(
            BoardProcess(tmp_path / "board", companion.url, "kitchen", hurry=HURRY, **{"records.most": MOST})
        )
        for at in range(MOST + 1):
            _say_and_wait(board, at)
        wait_until("some are archived", lambda: _archived(companion, "kitchen"), 30)
        wait_until("all is told", lambda: _is_told(board))
        companion.kill()
        for path in (tmp_path / "companion").glob("companion.db*"):
            path.unlink()
        companion.start()
        wait_until("it is told", lambda: "IT HAS LOST" in board.answered("/stats"), 90)
