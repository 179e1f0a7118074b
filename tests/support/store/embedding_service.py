"""An embedding service for the tests: OpenAI's form, strict about requests, faulty on demand."""

import hashlib
import json
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

KEY = "sk-a-secret-of-the-tests"
WIDTH = 8
MODEL = "little-model"


def vector_of(text: str, task: str = "", width: int = WIDTH) -> np.ndarray:
    """The vector of a text: any direction, of any length, the same each time."""
    seed = int.from_bytes(hashlib.sha256((task + text).encode()).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(width).astype("<f4") * 3


def direction(text: str, task: str = "", width: int = WIDTH) -> np.ndarray:
    """The same of length 1."""
    vector = vector_of(text, task, width)
    return vector / np.linalg.norm(vector)


SLOW_SECONDS = 1.0
"""How long a slow answer takes: longer than the client of the tests waits."""


class EmbeddingService:
    """`faults` are used up one a request: a status (429, 500 ...), a name below, or a pair (status, headers).

    cut: the body ends early · few: one vector is missing · wide: one number too many · nan, zero: such a vector ·
    slow: an answer after a second · words: no JSON · backward: in another order · twice: one index comes twice
    """

    def __init__(self) -> None:
        self.faults: deque[Any] = deque()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.refused_texts: set[str] = set()
        self.most_in_time = 2048
        """Texts of the largest batch that is not answered slowly."""
        self.longest = 400, 10**9
        """The status of a refusal, and the characters of the longest text that is taken."""
        service = self

        class Handler(_Handler):
            peer = service

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> "EmbeddingService":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What a client is given as its base URL."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    # --- answers

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """To /embeddings: what OpenAI's own would say."""
        texts = [body["input"]] if isinstance(body.get("input"), str) else body.get("input")
        unknown = set(body) - {"model", "input", "dimensions", "encoding_format", "user"}
        if unknown or body.get("model") != MODEL or not isinstance(texts, list) or not texts or "" in texts:
            return 400, {"error": {"message": "the request is not of the right form", "type": "invalid_request_error"}}
        if body.get("encoding_format", "float") != "float" or len(texts) > 2048:
            return 400, {"error": {"message": "the request is not of the right form", "type": "invalid_request_error"}}
        if any(text in self.refused_texts for text in texts):
            return 400, {"error": {"message": "that text is not taken"}}
        status, most = self.longest
        if max(map(len, texts)) > most:
            return status, {"error": {"message": f"input ({most} tokens) is too large to process."}}
        if len(texts) > self.most_in_time:
            time.sleep(SLOW_SECONDS)
        width = body.get("dimensions", WIDTH)
        items = [
            {"object": "embedding", "index": index, "embedding": vector_of(text, "", width).tolist()}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "data": items, "model": MODEL, "usage": usage}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    peer: EmbeddingService

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self.peer.headers.append({name.lower(): value for name, value in self.headers.items()})
        if key != KEY:
            self._send(401, {"error": {"message": f"Incorrect API key provided: {key}"}})
            return
        request = json.loads(body)
        self.peer.requests.append(request)
        fault = self.peer.faults.popleft() if self.peer.faults else None
        status, more = fault if isinstance(fault, tuple) else (fault, {})
        if isinstance(status, int):
            self._send(status, {"error": {"message": f"told to say {status} about {KEY}"}}, more)
        elif self.path == "/v1/embeddings":
            self._send_faulty(status, *self.peer.answer(request))
        else:
            self._send(404, {"error": {"message": "no such path"}})

    def _send_faulty(self, fault: str | None, status: int, answer: dict[str, Any]) -> None:
        data = answer.get("data", [])
        if fault == "words":
            self._send_bytes(200, b"<html>hello</html>")
        elif fault == "cut":
            content = json.dumps(answer).encode()
            self._head(status, len(content), {})
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
        else:
            if fault == "slow":
                time.sleep(SLOW_SECONDS)
            elif fault == "few":
                data.pop()
            elif fault == "twice":
                data[-1]["index"] = 0
            elif fault == "backward":
                data.reverse()
            elif fault == "wide":
                for item in data:
                    item["embedding"].append(1.0)
            elif fault in ("nan", "zero"):
                data[0]["embedding"] = [float("nan") if fault == "nan" else 0.0] * len(data[0]["embedding"])
            self._send(status, answer)

    def _send(self, status: int, answer: Any, more: dict[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(answer).encode(), more)

    def _send_bytes(self, status: int, content: bytes, more: dict[str, str] | None = None) -> None:
        self._head(status, len(content), more or {})
        self.wfile.write(content)

    def _head(self, status: int, size: int, more: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(size))
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()
