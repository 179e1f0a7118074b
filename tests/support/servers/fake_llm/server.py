"""The server: takes connections, records requests, lets the script answer."""

import json
import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from fake_server.http import HttpError, HttpRequest, Outgoing
from fake_server.server import LOOPBACK, FakeServer
from fake_server.threads import serving as serving_server

from . import chat_completions, messages
from .player import ModelApi, Player
from .rules import Rule, Script
from .types import RequestRejected, json_bytes

MODEL = "scripted"
"""The only model of GET /v1/models; requests may name any."""

_APIS: tuple[ModelApi, ...] = (chat_completions, messages)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request to a model, as it came: `order` counts from 1, `body` is None if `raw` is not JSON."""

    order: int
    api: str
    path: str
    headers: Mapping[str, str]
    body: object
    head: bytes
    raw: bytes


class Serving(FakeServer):
    """A server on loopback that answers by `rules`, in a thread of its own; any thread may call it."""

    def __init__(self, rules: Iterable[Rule] = ()):
        super().__init__(LOOPBACK, 0)
        self._script = Script(rules)
        self._recorded: list[RecordedRequest] = []
        self._arrived = threading.Condition()

    @property
    def requests(self) -> list[RecordedRequest]:
        """The requests to a model so far, in the order of their arrival."""
        return list(self._recorded)

    def add(self, rule: Rule, *, first: bool = False) -> None:
        """Put a rule behind all others, or before them."""
        self._script.add(rule, first=first)

    def wait_for_requests(self, count: int, timeout: float = 10) -> list[RecordedRequest]:
        """All requests as soon as there are `count`; TimeoutError after `timeout` seconds."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self._recorded) >= count, timeout):
                raise TimeoutError(f"{len(self._recorded)} of {count} requests came within {timeout} s")
        return self.requests

    async def _answer(self, request: HttpRequest, out: Outgoing) -> None:
        if request.path == "/v1/models" and request.method == "GET":
            api = messages if "anthropic-version" in request.headers else chat_completions
            await out.send_whole(200, json_bytes(api.models(MODEL)), {"content-type": "application/json"})
            return
        api = next((api for api in _APIS if request.path == api.PATH), None)
        if api is None:
            player = Player(chat_completions, out, 0)
            paths = ", ".join(api.PATH for api in _APIS)
            await player.refuse(404, f"there is no {request.path} here, only {paths}")
        elif request.method != "POST":
            await Player(api, out, 0).refuse(405, f"{request.path} takes POST, not {request.method}")
        else:
            await self._reply(api, request, out)

    async def _refuse(self, error: HttpError, out: Outgoing) -> None:
        try:
            await Player(chat_completions, out, 0).refuse(error.status, str(error))
        except ConnectionError:
            _log.debug("a client left before it was refused: %s", error)

    async def _reply(self, api: ModelApi, request: HttpRequest, out: Outgoing) -> None:
        recorded = self._recorded_request(api, request)
        player = Player(api, out, recorded.order)
        if not isinstance(recorded.body, dict):
            await player.refuse(400, "the body is not a JSON object, or has half of a surrogate pair in it")
            return
        try:
            asked = api.read(request.headers, recorded.body)
        except RequestRejected as refusal:
            await player.refuse(refusal.status, str(refusal))
            return
        rule = self._script.choose_rule(asked)
        await player.play(asked, rule.answer(asked, recorded.order, len(request.body)), rule.fault)

    def _recorded_request(self, api: ModelApi, request: HttpRequest) -> RecordedRequest:
        body = _parsed(request.body)
        with self._arrived:
            recorded = RecordedRequest(
                len(self._recorded) + 1, api.NAME, request.path, request.headers, body, request.head, request.body
            )
            self._recorded.append(recorded)
            self._arrived.notify_all()
        return recorded


def _parsed(body: bytes) -> object:
    """The JSON value that `body` is; None if it is none, or has a text that is not Unicode."""
    try:
        value: object = json.loads(body)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return value


@contextmanager
def serving(rules: Iterable[Rule] = ()) -> Iterator[Serving]:
    """A server that answers by `rules` as long as the block runs; see Serving."""
    server = Serving(rules)
    with serving_server(server, "scripted"):
        yield server
