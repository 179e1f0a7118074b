"""A model's service that misbehaves as a message asks it to: it tells the key that it was shown wherever it can, leads
elsewhere, never ends.
"""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from peers import Companion

WAYS = (
    "error 400", "error 401", "error 403", "error 404", "error 429", "error 500", "error 503", "text 500", "html 502",
    "stream error", "header", "redirect", "cut whole", "cut stream", "status 204", "html 200", "json cut", "event cut",
    "page stream",
)  # fmt: skip
"""All that it can be asked for, but `endless` and `silent`."""

_LOOK_SECONDS = 0.02
_SILENT_SECONDS = 30
"""How long nothing is answered, unless the client goes before."""

_BETWEEN_PIECES = 0.02
"""The pause between two pieces of an endless answer, in seconds: as a model, it is slower than its reader."""


def _event(content: str) -> bytes:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': content}}]})}\n\n".encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def service(self) -> "LeakyService":
        server = self.server
        assert isinstance(server, _Server)
        return server.service

    def do_GET(self) -> None:
        self.service.seen.append(self.path)
        if self.service.slow_list.is_set():
            self.slow_list()
            return
        self.whole(500, {"error": {"message": f"you showed {self.key()}"}})

    def do_POST(self) -> None:
        self.service.seen.append(self.path)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with contextlib.suppress(ConnectionError):
            self.behave(body["messages"][-1]["content"])

    def slow_list(self) -> None:
        """Answer only once the client has gone, or it is asked for no more."""
        self.service.lists += 1
        self.connection.settimeout(_LOOK_SECONDS)
        try:
            while self.service.slow_list.is_set():
                with contextlib.suppress(TimeoutError):
                    if not self.connection.recv(1):
                        break
        finally:
            self.service.lists -= 1
        self.close_connection = True

    def key(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    def behave(self, way: str) -> None:
        kind, _, number = way.partition(" ")
        told = f"you showed {self.key()}, {self.key()}"
        error = {"error": {"message": told, "type": self.key(), "code": self.key(), "param": self.key()}}
        if kind == "error":
            self.whole(int(number), error)
        elif kind in ("text", "html", "status") and number != "200":
            self.whole(int(number), "" if kind == "status" else told, "text/plain")
        elif kind == "redirect":
            self.whole(307, "", more={"Location": f"/elsewhere?{self.key()}"})
        elif way == "header":
            self.whole(200, {"choices": []}, more={"X-Key": self.key(), "Set-Cookie": self.key()})
        elif way == "cut whole":
            self.begin(200, "application/json", {"Content-Length": "1000"})
            self.wfile.write(told.encode())
            self.close_connection = True
        elif way == "html 200":
            self.whole(200, f"<html>{self.key()}</html>", "text/html")
        elif way == "json cut":
            self.whole(200, json.dumps({"choices": [{"message": {"content": told}}]})[:-2])
        elif kind == "endless":
            self.endless()
        elif kind == "silent":
            self.service.streams += 1
            self.connection.settimeout(_SILENT_SECONDS)
            with contextlib.suppress(TimeoutError):
                self.connection.recv(1)
            self.service.streams -= 1
        else:
            self.stream(way, error)

    def stream(self, way: str, error: dict[str, Any]) -> None:
        data = _event("an answer")
        if way == "stream error":
            data = f"data: {json.dumps(error)}\n\n".encode()
        elif way == "event cut":
            data = data[:-6] + b"\n\n"
        elif way == "page stream":
            data = f"<html>{self.key()}</html>\n\n".encode()
        self.begin(200, "text/event-stream", {"Transfer-Encoding": "chunked"})
        self.chunk(data)
        if way == "cut stream":
            self.close_connection = True
            return
        self.chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def endless(self) -> None:
        self.service.streams += 1
        try:
            self.begin(200, "text/event-stream", {"Transfer-Encoding": "chunked"})
            while True:
                self.chunk(b'data: {"choices":[{"index":0,"delta":{"content":"abcd"}}]}\n\n')
                time.sleep(_BETWEEN_PIECES)
        finally:
            self.service.streams -= 1

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def whole(self, status: int, body: Any, kind: str = "application/json", more: dict[str, str] | None = None):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.begin(status, kind, {"Content-Length": str(len(data)), **(more or {})})
        self.wfile.write(data)

    def begin(self, status: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    service: "LeakyService"


class LeakyService:
    """It runs as long as the block does; `streams` is how many endless streams are open, `seen` the paths it was asked.

    While `slow_list` is set it answers no GET; `lists` is how many wait for one.
    """

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.streams = self.lists = 0
        self.slow_list = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.service = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "LeakyService":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Talkative(Companion):
    """A companion that logs all it can."""

    def command(self) -> tuple[list[str], dict[str, str]]:
        words, variables = super().command()
        return ["debug" if word == "info" else word for word in words], variables
