"""Runs the workers of one companion: processes that share a listening socket, each started again when it ends."""

import asyncio
import contextlib
import json
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from engram_host.companion.errors import CompanionError
from engram_host.companion.supervisor import FIRST_PAUSE, LONGEST_PAUSE, STEADY_SECONDS
from engram_host.companion.workers.place import VARIABLE, WorkerPlace
from engram_host.companion.workers.shared_folder import shared_folder

_log = logging.getLogger("engram.workers")

STOP_SECONDS = 20.0
"""How long a worker may take to end; then it is killed."""

MOST_REPORT = 1 << 16
"""Bytes of what a worker reports when it is ready."""

_sleep = asyncio.sleep

Report = dict[str, Any]
"""What a worker says when it is ready: `addresses`, `page` and `banner`."""


class WorkersFailed(CompanionError):
    """A worker could not be started at all."""


class _Slot:
    """One worker, again and again."""

    def __init__(self, number: int):
        self.number = number
        self.process: asyncio.subprocess.Process | None = None
        self.ready: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self.failures = 0


class WorkerPool:
    """Starts `count` processes of a command that serve at one socket, and keeps them up until run() has to stop."""

    def __init__(self, command: Sequence[str], count: int, listener: socket.socket):
        self._command = list(command)
        self._count = count
        self._listener = listener
        self._is_stopping = False

    async def run(self, stop: asyncio.Event, on_ready: Callable[[Report], None]) -> None:
        """Run all workers until `stop` is set; `on_ready` gets what the first one reports once all are ready.

        WorkersFailed if one ends before all were ready for the first time.
        """
        with shared_folder() as folder:
            slots = [_Slot(number) for number in range(self._count)]
            tasks = [asyncio.create_task(self._keep_up(slot, folder)) for slot in slots]
            stopping = asyncio.create_task(stop.wait())
            try:
                await self._wait_ready(slots, stopping, on_ready)
                await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    if task.done():
                        task.result()
            finally:
                self._is_stopping = True
                stopping.cancel()
                await asyncio.gather(*(self._end(slot) for slot in slots))
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _wait_ready(
        self, slots: Sequence[_Slot], stopping: asyncio.Task[Any], on_ready: Callable[[Report], None]
    ) -> None:
        ready = asyncio.gather(*(slot.ready for slot in slots))
        await asyncio.wait([stopping, ready], return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            on_ready(ready.result()[0])
        else:
            ready.cancel()
            await asyncio.gather(ready, return_exceptions=True)

    async def _keep_up(self, slot: _Slot, folder: str) -> None:
        """Run a worker again and again, after pauses that grow while it ends soon after its start."""
        while not self._is_stopping:
            began = time.monotonic()
            status = await self._run_once(slot, folder)
            if self._is_stopping:
                return
            if not slot.ready.done():
                problem = f"worker {slot.number} ended with status {status} before it was ready."
                slot.ready.set_exception(WorkersFailed(problem))
                return
            slot.failures = 0 if time.monotonic() - began > STEADY_SECONDS else slot.failures
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(slot.failures, 16))
            slot.failures += 1
            _log.error("worker %d ended with status %d, and is started again in %g s.", slot.number, status, pause)
            await _sleep(pause)

    async def _run_once(self, slot: _Slot, folder: str) -> int:
        """Run a worker until it ends; its status."""
        reading, writing = os.pipe()
        place = WorkerPlace(slot.number, self._count, self._listener.fileno(), writing, folder)
        place.socket_of(slot.number).unlink(missing_ok=True)  # one that was killed has left it
        try:
            # It reads its input's end when this process has ended, however that was.
            slot.process = process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                pass_fds=(place.listener, place.report),
                env={**os.environ, VARIABLE: place.encode()},
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        report = asyncio.create_task(_read_report(reading))
        report.add_done_callback(lambda task: _note_ready(slot, task))
        try:
            return await process.wait()
        finally:
            await asyncio.gather(report, return_exceptions=True)

    async def _end(self, slot: _Slot) -> None:
        """End a worker as a person would, or kill it if that takes too long."""
        process = slot.process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            _log.error("worker %d did not end within %g s, and is killed.", slot.number, STOP_SECONDS)
            process.kill()
            await process.wait()


def _note_ready(slot: _Slot, task: asyncio.Task[Report | None]) -> None:
    report = None if task.cancelled() else task.result()
    if report is not None:
        _log.info("worker %d is ready", slot.number)
        if not slot.ready.done():
            slot.ready.set_result(report)


async def _read_report(reading: int) -> Report | None:
    """What a worker writes when it is ready; None if it ends before."""
    reader = asyncio.StreamReader(MOST_REPORT)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb", 0)
    )
    try:
        line = await reader.readline()
        return json.loads(line) if line.endswith(b"\n") else None
    finally:
        transport.close()


def write_report(place: WorkerPlace, report: Report) -> None:
    """Say that a worker is ready."""
    with os.fdopen(place.report, "wb") as pipe:
        pipe.write(json.dumps(report).encode() + b"\n")


async def wait_for_parent_end() -> None:
    """Wait until the process that started this worker has ended: its end of our input is closed then."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(1024):
        pass


def adopt_socket(place: WorkerPlace) -> socket.socket:
    """The listening socket that a worker shares with the others."""
    return socket.socket(fileno=place.listener)
