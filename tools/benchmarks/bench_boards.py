#!/usr/bin/env python3
"""Many boards that send what they have to one companion at once: the firmware's own code, each board in a folder of its own.

    bench_boards.py URL BOARDS TURNS FOLDER

Each board is given TURNS turns before any of them connects. Then all connect; a line of JSON says how long it took until
all was acknowledged: {"seconds","turns","boards"}. Boards that were there already in FOLDER go on with what they have.
"""

import argparse
import asyncio
import json
import socket
import sys
import time
from collections.abc import Awaitable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "firmware"))

from engram import diag
from engram.app import App
from engram.memory.access import OWNER
from engram.net import transport

SECONDS = 600.0
"""After which boards that have not sent all are counted as lost."""

WORDS = ("kettle", "garden", "violin", "ticket", "harbour", "window", "coffee", "bicycle", "letter", "winter")


class StreamSocket(socket.socket):
    """A socket that is a stream, as MicroPython's are: the firmware's links read and write it."""

    def readinto(self, view: memoryview) -> int | None:
        """Fill `view` with what is there: its count, 0 at the end, None if there is nothing yet."""
        try:
            return self.recv_into(view)
        except BlockingIOError:
            return None

    def write(self, data: memoryview) -> int | None:
        """Send what there is room for: its count, None if there is none."""
        try:
            return self.send(data)
        except BlockingIOError:
            return None


async def wait_for_socket(sock: StreamSocket, to_write: bool) -> None:
    """Wait until a socket can be read or written."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    add, remove = (loop.add_writer, loop.remove_writer) if to_write else (loop.add_reader, loop.remove_reader)
    # The loop may look twice before this task goes on.
    add(sock, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        remove(sock)


async def wait_for_ms(awaitable: Awaitable[Any], milliseconds: int) -> Any:
    """As MicroPython has it. The wait_for of CPython 3.11 forgets a cancellation that meets the end of what it waits for."""
    async with asyncio.timeout(milliseconds / 1000):
        return await awaitable


def use_sockets_of_this_computer() -> None:
    """Let the firmware's links run on CPython, whose asyncio and sockets are not MicroPython's."""
    asyncio.wait_for_ms = wait_for_ms  # pyright: ignore[reportAttributeAccessIssue]
    transport.socket = SimpleNamespace(**{**vars(socket), "socket": StreamSocket})  # pyright: ignore[reportAttributeAccessIssue]
    transport._ready = wait_for_socket  # pyright: ignore[reportAttributeAccessIssue]


def make_boards(url: str, count: int, turns: int, folder: Path) -> list[App]:
    """Boards with some more turns each."""
    diag.level = len(diag.NAMES) - 1
    boards = []
    for number in range(count):
        name = f"{folder.name}-{number:04d}"
        home = folder / name
        home.mkdir(parents=True, exist_ok=True)
        app = App(str(home), {"companion.url": url, "companion.device": name, "log.level": "error"})
        journal = app.board.journal
        for turn in range(turns):
            words = " ".join(WORDS[(number * 7 + turn * 3 + each) % len(WORDS)] for each in range(12))
            journal.add(OWNER, "user", "owner", f"turn {turn} of {name}: {words}")
        boards.append(app)
    return boards


def companion_of(app: App) -> Any:
    """A board's side of its companion."""
    return app.board.companion


def is_copied(app: App) -> bool:
    """Whether the companion has acknowledged all that a board has."""
    line = next(companion_of(app).status_lines())
    return line.startswith("connected") and "to send" not in line


async def send(boards: list[App]) -> float:
    """Let all boards send all; after how many seconds that was done."""
    began = time.perf_counter()
    tasks = [asyncio.create_task(companion_of(app).run()) for app in boards]
    left = boards
    while left and time.perf_counter() - began < SECONDS and not any(task.done() for task in tasks):
        await asyncio.sleep(0.02)
        left = [app for app in left if not is_copied(app)]
    took = time.perf_counter() - began
    await end(tasks)
    if left:
        reason = next(companion_of(left[0]).status_lines())
        print(f"{len(left)} boards did not send all in {SECONDS:.0f} s, the first is {reason}", file=sys.stderr)
    return took


async def end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel tasks until all have ended; raises the error of one that failed."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=0.1)
    for task in tasks:
        if not task.cancelled() and (problem := task.exception()):
            raise problem


def main(arguments: list[str]) -> None:
    """Make boards, let them send, and print how long it took."""
    parser = argparse.ArgumentParser(description="Let many boards send their turns to one companion at once.")
    parser.add_argument("url", metavar="URL", help="of the broker, mqtt://...")
    parser.add_argument("boards", metavar="BOARDS", type=int, help="how many")
    parser.add_argument("turns", metavar="TURNS", type=int, help="that each board is given first")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the boards have their files")
    given = parser.parse_args(arguments)
    use_sockets_of_this_computer()
    boards = make_boards(given.url, given.boards, given.turns, given.folder)
    seconds = asyncio.run(send(boards))
    figures = {"seconds": round(seconds, 3), "boards": given.boards, "turns": given.boards * given.turns}
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
