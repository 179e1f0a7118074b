"""The server: the Bot API, files and the people's side, on one port; also in a thread of its own."""

import asyncio
import inspect
import json
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import unquote

from fake_server.http import HttpError, HttpRequest, Outgoing
from fake_server.server import LOOPBACK, ConnectionCut, FakeServer
from fake_server.threads import LoopThread
from fake_server.threads import serving as serving_server

from .faults import BAD_GATEWAY, Call, Fault, Faults, Ledger
from .methods import METHODS, check_arguments, read_arguments
from .people import People
from .records import User
from .state import TelegramState
from .text import ApiError

TOKEN = "7000000001:AAFake-of-the-Bot-API-for-Engram-00"
"""The bot's token: of the form of a real one, and good for nothing else."""
USERNAME = "engram_fake_bot"
_Found = TypeVar("_Found")


class FakeTelegram(FakeServer):
    """A server of the Bot API for one bot; `async with` starts and ends it.

    `port` 0 takes a free one; `certificate` is a file of PEM with its key, for TLS.
    """

    def __init__(self, *, port: int = 0, certificate: Path | None = None, reads_all_group_messages: bool = False):
        super().__init__(LOOPBACK, port, _tls_context(certificate))
        self.token = TOKEN
        bot = User(int(TOKEN.partition(":")[0]), "Engram", USERNAME, is_bot=True)
        self.state = TelegramState(bot, reads_all_group_messages=reads_all_group_messages)
        self.people = People(self.state)
        self.faults = Faults()
        self.ledger = Ledger()

    async def wait_until(self, condition: Callable[[], _Found], timeout: float = 10) -> _Found:
        """What `condition` gives as soon as it is true; asked after each change. TimeoutError after `timeout` seconds."""
        return await self.state.wait_until(condition, timeout)

    async def _refuse(self, error: HttpError, out: Outgoing) -> None:
        await _send_json(out, error.status, ApiError(error.status, f"Bad Request: {error}").as_json())

    async def _answer(self, request: HttpRequest, out: Outgoing) -> None:
        """Answer /botTOKEN/METHOD and /file/botTOKEN/PATH."""
        where, _, rest = unquote(request.path).removeprefix("/").partition("bot")
        token, _, name = rest.partition("/")
        if where not in ("", "file/"):
            await _send_json(out, 404, ApiError(404, "Not Found").as_json())
            return
        call = self.ledger.begin("file" if where else name, {}, time.time())
        fault = None
        try:
            if token != self.token or self.faults.is_token_refused:
                raise ApiError(401, "Unauthorized")
            fault = self.faults.take(call.method)
            self._fail(fault, call)
            body = self._file(name) if where else await self._call(request, name, call)
        except ApiError as error:
            call.status = error.code
            self.state.changed()
            await _send_json(out, error.code, error.as_json())
        except _BadGateway as error:
            call.status = error.status
            await out.send_whole(error.status, BAD_GATEWAY, {"content-type": "text/html"})
        else:
            await self._finish(fault, call, out, body)

    def _fail(self, fault: Fault | None, call: Call) -> None:
        """Let a fault take the place of a call."""
        if fault is None:
            return
        call.fault = fault.kind
        self.state.changed()
        if fault.kind == "cut_before":
            raise ConnectionCut
        if fault.kind == "status":
            raise _BadGateway(fault.status)
        if fault.error is not None:
            raise fault.error

    def _file(self, path: str) -> bytes:
        file = next((file for file in self.state.files.values() if file.path == path), None)
        if file is None:
            raise ApiError(404, "Not Found")
        return file.data

    async def _call(self, request: HttpRequest, name: str, call: Call) -> bytes:
        method = METHODS.get(name)
        if method is None:
            raise ApiError(404, "Not Found: method not found")
        kind = request.headers.get("content-type", "").partition(";")[0]
        given, is_form = read_arguments(kind, request.body)
        call.arguments = check_arguments(method, name, given, is_form=is_form)
        result = method(self.state, **call.arguments)
        call.result = await result if inspect.isawaitable(result) else result
        return _json_bytes({"ok": True, "result": call.result})

    async def _finish(self, fault: Fault | None, call: Call, out: Outgoing, body: bytes) -> None:
        """Send an answer, unless a fault keeps it back."""
        kind = fault.kind if fault else ""
        if fault and kind == "delay":
            await asyncio.sleep(fault.seconds)
        if kind == "cut_after":
            self.state.changed()
            raise ConnectionCut
        call.status = 200
        self.state.changed()
        content = "application/octet-stream" if call.method == "file" else "application/json"
        await out.send_whole(
            200, body, {"content-type": content}, sent=len(body) // 2 if kind == "cut_within" else None
        )
        out.keeps = out.keeps and kind != "cut_within"


class _BadGateway(Exception):
    """What stands before the service answers in its place."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status = status


def _tls_context(certificate: Path | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def _json_bytes(value: object) -> bytes:
    """JSON as the service writes it: everything but ASCII as UTF-16 escapes."""
    return json.dumps(value, separators=(",", ":")).encode()


async def _send_json(out: Outgoing, status: int, body: dict[str, object]) -> None:
    await out.send_whole(status, _json_bytes(body), {"content-type": "application/json"})


# --- in a thread


class ServingTelegram:
    """A running server, seen from another thread: each call of `people`, `faults` and `ledger` runs in the server's loop."""

    def __init__(self, server: FakeTelegram, loop: LoopThread):
        self._server = server
        self._loop = loop
        self.url = server.url
        self.token = server.token
        self.people = cast(People, _InLoop(server.people, loop))
        self.faults = cast(Faults, _InLoop(server.faults, loop))
        self.ledger = cast(Ledger, _InLoop(server.ledger, loop))

    def wait_until(self, condition: Callable[[FakeTelegram], _Found], timeout: float = 10) -> _Found:
        """What `condition` of the server gives as soon as it is true; TimeoutError after `timeout` seconds."""
        return self._loop.run(self._server.wait_until(lambda: condition(self._server), timeout))


class _InLoop:
    """Stands in for an object of the server: its methods run, and its attributes are read and set, in the server's loop."""

    def __init__(self, target: object, loop: LoopThread):
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_loop", loop)

    def __getattr__(self, name: str) -> Any:
        value = self._loop.call(lambda: getattr(self._target, name))
        if not inspect.ismethod(value):
            return value
        return lambda *args, **kwargs: self._loop.call(lambda: value(*args, **kwargs))

    def __setattr__(self, name: str, value: object) -> None:
        self._loop.call(lambda: setattr(self._target, name, value))


@contextmanager
def serving(server: FakeTelegram | None = None) -> Iterator[ServingTelegram]:
    """Run a server, a new one by default, as long as the block runs."""
    running = server or FakeTelegram()
    with serving_server(running, "telegram") as loop:
        yield ServingTelegram(running, loop)
