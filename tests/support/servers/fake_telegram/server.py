"""The server: the Bot API, files and the people's side, on one port; also in a thread of its own."""

import inspect
import json
import ssl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

from fake_server.http import HttpError, HttpRequest, Outgoing
from fake_server.server import LOOPBACK, ConnectionCut, FakeServer

from .api.arguments import Raw, Upload, check_arguments, read_arguments
from .api.methods import MethodEntry
from .api.sending import METHODS
from .clock import Clock
from .errors import ApiError
from .faults import BAD_GATEWAY, Call, Fault, Faults, Ledger
from .limits import FloodLimits
from .people import People
from .records import User
from .state import OFFERED_SECONDS, TelegramState

TOKEN = "7000000001:AAFake-of-the-Bot-API-for-Engram-00"
"""The bot's token unless another one is given: of the form of a real one, and good for nothing else."""
_JSON = {"content-type": "application/json"}
_Found = TypeVar("_Found")


class FakeTelegram(FakeServer):
    """A server of the Bot API for one bot; `async with` starts and ends it.

    `port` 0 takes a free one; `certificate` and `key` are files of PEM for TLS. With a ManualClock as `clock`, no limit
    and no long poll takes real time.
    """

    def __init__(
        self,
        *,
        token: str = TOKEN,
        username: str = "engram_fake_bot",
        first_name: str = "Engram",
        host: str = LOOPBACK,
        port: int = 0,
        certificate: Path | None = None,
        key: Path | None = None,
        clock: Clock | None = None,
        limits: FloodLimits | None = None,
        reads_all_group_messages: bool = False,
        first_update: int = 700_000_001,
    ):
        bot_id = token.partition(":")[0]
        if not bot_id.isdigit():
            raise ValueError("a token is NUMBER:SECRET")
        bot = User(int(bot_id), first_name, username=username, is_bot=True)
        super().__init__(host, port, _tls_context(certificate, key))
        self.token = token
        self.clock = clock or Clock()
        self.state = TelegramState(bot, self.clock, limits or FloodLimits(), first_update=first_update)
        self.state.reads_all_group_messages = reads_all_group_messages
        self.people = People(self.state)
        self.faults = Faults()
        self.ledger = Ledger()

    async def wait_until(self, condition: Callable[[], _Found], timeout: float = 10) -> _Found:
        """What `condition` gives as soon as it is true; asked after each change. TimeoutError after `timeout` seconds."""
        return await self.state.wait_until(condition, timeout)

    # --- connections

    async def _refuse(self, error: HttpError, out: Outgoing) -> None:
        await _send_json(out, ApiError(error.status, f"Bad Request: {error}"))

    async def _answer(self, request: HttpRequest, out: Outgoing) -> None:
        target = request.head.split(b" ", 2)[1].decode("latin-1")
        path, query = unquote(request.path), target.partition("?")[2]
        if path.startswith("/file/bot"):
            await self._send_file(path.removeprefix("/file/bot"), out)
        elif path.startswith("/bot") and "/" in path.removeprefix("/bot"):
            await self._answer_bot(request, path.removeprefix("/bot"), query, out)
        else:
            await _send_json(out, ApiError(404, "Not Found"))

    async def _send_file(self, rest: str, out: Outgoing) -> None:
        token, _, path = rest.partition("/")
        if token != self.token or self.faults.is_token_refused:
            await _send_json(out, ApiError(401, "Unauthorized"))
            return
        call = self.ledger.begin("file", {"path": path}, self.clock.now())
        fault = self.faults.take("file")
        if await self._has_failed(fault, call, out):
            return
        offered = self.state.offered.get(path, float("-inf"))
        file = next((file for file in self.state.files.values() if file.path == path), None)
        if file is None or self.clock.now() - offered > OFFERED_SECONDS:
            await self._refuse_call(call, ApiError(404, "Not Found"), out)
            return
        await self._finish(fault, call, out, 200, file.data, {"content-type": "application/octet-stream"})

    # --- the Bot API

    async def _answer_bot(self, request: HttpRequest, rest: str, query: str, out: Outgoing) -> None:
        token, _, name = rest.partition("/")
        entry = METHODS.get(name.lower())
        call = self.ledger.begin(entry.name if entry else name, {}, self.clock.now())
        if token != self.token or self.faults.is_token_refused:
            await self._refuse_call(call, ApiError(401, "Unauthorized"), out)
            return
        fault = self.faults.take(call.method)
        try:
            raw, is_json = read_arguments(query, request.headers.get("content-type", ""), request.body)
            call.arguments = _shown(raw)
            if await self._has_failed(fault, call, out):
                return
            if request.method not in ("GET", "POST"):
                raise ApiError(405, "Method Not Allowed")
            if entry is None:
                raise ApiError(404, "Not Found: method not found")
            result = await self._call(entry, raw, call, is_json=is_json)
        except ApiError as error:
            await self._refuse_call(call, error, out)
            return
        await self._finish(fault, call, out, 200, _json_bytes({"ok": True, "result": result}), _JSON)

    async def _call(self, entry: MethodEntry, raw: Raw, call: Call, *, is_json: bool) -> object:
        arguments = check_arguments(entry.name, entry.types, raw, is_json=is_json)
        call.arguments = _shown(arguments.values)
        result = entry.function(self.state, arguments)
        if inspect.isawaitable(result):
            result = await result
        call.is_handled, call.result = True, result
        return result

    async def _has_failed(self, fault: Fault | None, call: Call, out: Outgoing) -> bool:
        """Whether a fault has taken the place of the call."""
        if fault is None:
            return False
        call.fault = fault.kind
        self.state.changed()
        if fault.kind == "cut_before":
            raise ConnectionCut
        if fault.kind == "status":
            self.ledger.finish(call, fault.status)
            await out.send_whole(fault.status, BAD_GATEWAY, {"content-type": "text/html"})
            return True
        error = fault.error()
        if error is not None:
            await self._refuse_call(call, error, out)
        return error is not None

    async def _refuse_call(self, call: Call, error: ApiError, out: Outgoing) -> None:
        self.ledger.finish(call, error.code, error.description)
        self.state.changed()
        await _send_json(out, error)

    async def _finish(
        self, fault: Fault | None, call: Call, out: Outgoing, status: int, body: bytes, headers: dict[str, str]
    ) -> None:
        """Send an answer, unless a fault keeps it back."""
        if fault is not None and fault.kind == "delay":
            await self.clock.sleep(fault.seconds)
        if fault is not None and fault.kind == "cut_after":
            self.state.changed()
            raise ConnectionCut
        self.ledger.finish(call, status)
        self.state.changed()
        is_cut = fault is not None and fault.kind == "cut_within"
        await out.send_whole(status, body, headers, sent=len(body) // 2 if is_cut else None)
        if is_cut:
            out.keeps = False


def _tls_context(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def _json_bytes(value: object) -> bytes:
    """JSON as the service writes it: everything but ASCII as UTF-16 escapes."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str).encode()


async def _send_json(out: Outgoing, error: ApiError) -> None:
    retry = error.parameters.get("retry_after")
    headers = _JSON if retry is None else {**_JSON, "retry-after": str(retry)}
    await out.send_whole(error.code, _json_bytes(error.as_json()), headers)


def _shown(values: object) -> dict[str, object]:
    """Arguments for the ledger, which keeps no files."""
    assert isinstance(values, dict)
    return {name: replace(one, data=one.data[:64]) if isinstance(one, Upload) else one for name, one in values.items()}
