"""The workers of one machine ask each other, over sockets in a folder that only their user can open.

A question is its kind, a line's end and a body; the answer is one body. Each has a connection of its own, and its length before
it. Who does not answer in time, or not at all, is one that others do without.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from engram_host.companion.errors import CompanionError
from engram_host.companion.workers.place import WorkerPlace

_log = logging.getLogger("engram.workers")

MOST_BYTES = 16 << 20
"""Of a question or an answer: bounds what a worker has in memory for another one."""

MOST_AT_WORK = 64
"""Questions that a worker answers at the same time; others wait."""

Answer = Callable[[bytes], Awaitable[bytes]]
"""Given the body of a question, that of its answer."""


class PeerUnavailable(CompanionError):
    """Another worker gives no answer."""


class Peers:
    """The other workers of this machine, and what this one answers them."""

    def __init__(self, place: WorkerPlace):
        self._place = place
        self._answers: dict[str, Answer] = {}
        self._room = asyncio.Semaphore(MOST_AT_WORK)
        self._server: asyncio.Server | None = None

    @property
    def number(self) -> int:
        """That of this worker."""
        return self._place.number

    @property
    def numbers(self) -> range:
        """Those of all workers."""
        return range(self._place.count)

    def on(self, kind: str, answer: Answer) -> None:
        """Answer questions of a kind from now on."""
        self._answers[kind] = answer

    async def start(self) -> None:
        """Begin to answer others."""
        self._server = await asyncio.start_unix_server(self._serve, self._path(self.number))

    async def stop(self) -> None:
        """Answer nobody any more."""
        if self._server:
            self._server.close()
            self._path(self.number).unlink(missing_ok=True)

    async def ask(self, number: int, kind: str, body: bytes, seconds: float) -> bytes:
        """What another worker answers; PeerUnavailable if it does not within some seconds."""
        try:
            async with asyncio.timeout(seconds):
                reader, writer = await asyncio.open_unix_connection(self._path(number))
                try:
                    await _write(writer, kind.encode() + b"\n" + body)
                    return await _read(reader)
                finally:
                    writer.close()
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as problem:
            why = str(problem) or type(problem).__name__
            raise PeerUnavailable(f"worker {number} gives no answer ({why}).") from problem

    async def ask_all(self, kind: str, seconds: float) -> Mapping[int, bytes]:
        """The answers of all others that answer within some seconds, by their numbers."""
        others = [number for number in self.numbers if number != self.number]
        found = await asyncio.gather(
            *(self.ask(number, kind, b"", seconds) for number in others), return_exceptions=True
        )
        answers: dict[int, bytes] = {}
        for number, answer in zip(others, found, strict=True):
            if isinstance(answer, bytes):
                answers[number] = answer
            elif not isinstance(answer, PeerUnavailable):
                raise answer
        return answers

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one question; one that cannot be answered gets no answer."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            kind, _, body = (await _read(reader)).partition(b"\n")
            if answer := self._answers.get(kind.decode(errors="replace")):
                try:
                    async with self._room:
                        await _write(writer, await answer(body))
                except CompanionError as problem:
                    _log.info("a question of another worker gets no answer: %s", problem)
        writer.close()

    def _path(self, number: int) -> Path:
        return self._place.socket_of(number)


async def _read(reader: asyncio.StreamReader) -> bytes:
    size = int.from_bytes(await reader.readexactly(4), "big")
    if size > MOST_BYTES:
        raise OSError(f"{size} bytes are more than a worker takes")
    return await reader.readexactly(size)


async def _write(writer: asyncio.StreamWriter, body: bytes) -> None:
    if len(body) > MOST_BYTES:
        raise OSError(f"{len(body)} bytes are more than a worker takes")
    writer.write(len(body).to_bytes(4, "big") + body)
    await writer.drain()
