"""What the fakes of web services share: an HTTP server that can be killed, faults on request, and a count of all calls."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from aiohttp import web

from fake_server.threads import LoopThread
from peers import free_port

_Found = TypeVar("_Found")
FAULTS = ("status", "flood", "cut_before", "cut_after")


@dataclass
class Fault:
    """What happens to the next `count` calls of a name: a status, a rate limit, or a cut before or after it is handled."""

    kind: str
    name: str
    count: int = 1
    status: int = 502
    retry_after: float = 1


class FakeService:
    """An HTTP server of its own thread. A subclass names its calls and answers them; all else runs in that thread's loop."""

    def __init__(self, name: str) -> None:
        self.thread = LoopThread(name)
        self.calls: Counter[str] = Counter()
        """Calls by name, refused ones too."""
        self.answers: Counter[tuple[str, object]] = Counter()
        """How they were answered: (name, status or error)."""
        self._faults: list[Fault] = []
        self.is_token_refused = False
        self.files: dict[str, bytes] = {}
        """Files that people sent, by the path of their address."""
        self._port = 0
        self._runner: web.ServerRunner | None = None
        self._transports: set[asyncio.Transport] = set()

    def name_of(self, request: web.BaseRequest) -> str:
        """The call that a request is, "" if it is none: then serve() answers it."""
        raise NotImplementedError

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer what is no call: a file, or a websocket."""
        raise NotImplementedError

    async def answer(self, request: web.BaseRequest) -> tuple[web.Response, object]:
        """Answer a call, and say with which status or error."""
        raise NotImplementedError

    def flooded(self, retry_after: float) -> web.Response:
        """Answer a call that is one too many."""
        raise NotImplementedError

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        name = self.name_of(request)
        if not name:
            return await self.serve(request)
        self.calls[name] += 1
        fault = self._take_fault(name)
        if fault.kind == "cut_before":
            self._cut(request)
        if fault.kind == "status":
            return web.Response(status=fault.status, text="<html>upstream</html>", content_type="text/html")
        if fault.kind == "flood":
            return self.flooded(fault.retry_after)
        response, outcome = await self.answer(request)
        self.answers[name, outcome] += 1
        if fault.kind == "cut_after":
            self._cut(request)
        return response

    def refuse_token(self) -> None:
        """Know the bridge's token no more."""
        self.is_token_refused = True

    def forget_files(self) -> None:
        """Lose the files that people have sent."""
        self.files.clear()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    # --- up and down

    def start(self) -> None:
        if self._runner is None:
            self.thread.run(self._start())

    def kill(self) -> None:
        if self._runner is not None:
            self.thread.run(self._kill())

    def stop(self) -> None:
        self.kill()
        self.thread.close()

    async def _start(self) -> None:
        self._runner = web.ServerRunner(web.Server(self._answer, access_log=None), shutdown_timeout=0.01)
        await self._runner.setup()
        self._port = self._port or free_port()  # nobody else takes it while the service is down
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()

    async def _kill(self) -> None:
        assert self._runner is not None
        for transport in list(self._transports):
            transport.abort()
        await self._runner.cleanup()
        self._runner = None
        await self.killed()

    async def killed(self) -> None:
        """What does not outlive a power cut is forgotten."""

    def cut_connections(self) -> None:
        """Cut all connections; what is under way in the service goes on."""

        async def cut() -> None:
            for transport in list(self._transports):
                transport.abort()

        self.thread.run(cut())

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        transport = request.transport
        if transport is not None:
            self._transports.add(transport)
        try:
            return await self._handle(request)
        finally:
            if transport is not None and transport.is_closing():
                self._transports.discard(transport)

    # --- faults

    def fail(self, kind: str, name: str, count: int = 1, status: int = 502, retry_after: float = 1) -> None:
        assert kind in FAULTS
        self._faults.append(Fault(kind, name, count, status, retry_after))

    def _take_fault(self, name: str) -> Fault:
        """The fault for a call that has come, which counts as happened."""
        fault = next((fault for fault in self._faults if fault.name == name), Fault("", name))
        fault.count -= 1
        if not fault.count and fault in self._faults:
            self._faults.remove(fault)
        return fault

    @staticmethod
    def _cut(request: web.BaseRequest) -> None:
        """End a request's connection without an answer."""
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionResetError

    async def do(self, work: Callable[[], _Found]) -> _Found:
        """What a function gives that runs in the service's loop."""
        return await self.thread.do(work)
