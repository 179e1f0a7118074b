"""The host's file system: a board in a plain folder that is killed at any moment loses nothing that was acknowledged."""

import random
import subprocess
import time
from pathlib import Path

import pytest

import expected
from cuts import verify_board
from expected import Board, Operation
from playing import answers, command, encode, look, play
from scripts import Writer

RUNTIME = "64"
OPERATIONS = 400
PARTS = 4


def _start(tmp_path: Path) -> Board:
    folder = tmp_path / "first"
    folder.mkdir()
    return Board(profile=expected.looked(play([look()], RUNTIME, home=str(folder)).looks()[0])["profile"])


def _run_until(folder: Path, operations: list[Operation], seconds: float) -> bytes:
    """Play until the time is over; what was printed up to the kill."""
    words, environment = command(RUNTIME)
    given = folder / "operations"
    given.write_bytes(encode(operations, home=str(folder)))
    with given.open("rb") as source, (folder / "printed").open("wb") as target:
        process = subprocess.Popen(words, stdin=source, stdout=target, env=environment)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return (folder / "printed").read_bytes()


def _allowed(start: Board, operations: list[Operation], told: bytes, results: dict[int, object]) -> list[Board]:
    """The states after what was acknowledged, and on the way through what was in flight."""
    done = sum(answer[0] == "ack" for answer in answers(told))
    board = start
    for number in range(done):
        board = board.after(operations[number], results[number], results)[-1]
    if done == len(operations):
        return [board]
    return [board, *board.after(operations[done], results[done], results, is_atomic=False)]


def _try(tmp_path: Path, part: int, times: int, count: int) -> None:
    numbers = random.Random(part)
    operations = Writer(2).write(count)
    start = _start(tmp_path)
    whole = tmp_path / "whole"
    whole.mkdir()
    began = time.monotonic()
    results = {answer[1]: answer[3] for answer in answers(_run_until(whole, operations, 600)) if answer[0] == "ack"}
    length = time.monotonic() - began
    assert len(results) == len(operations)
    for attempt in range(times):
        folder = tmp_path / f"killed{attempt}"
        folder.mkdir()
        told = _run_until(folder, operations, length * numbers.random())
        verify_board(_allowed(start, operations, told, results), attempt, RUNTIME, home=str(folder))


def test_kills_at_random_moments_lose_nothing(tmp_path: Path):
    _try(tmp_path, 0, times=2, count=OPERATIONS // 4)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_two_hundred_kills_lose_nothing(tmp_path: Path, part: int):
    _try(tmp_path, 10 + part, 200 // PARTS, OPERATIONS)
