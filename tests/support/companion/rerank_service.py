"""A rerank service for the tests: the API of Cohere and Jina, strict about requests, faulty on demand."""

import json
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "rk-a-secret-of-the-tests"
MODEL = "little-reranker"
SLOW_SECONDS = 1.0
"""How long a slow answer takes: longer than the client of the tests waits."""

_FIELDS = {"model", "query", "documents", "top_n"}


class RerankService:
    """Scores each document by how many of the `wanted` words it has; `faults` are used up one a request.

    A fault is a status, or: slow: an answer after a second · words: no JSON · a list: these results · a dict: this answer.
    """

    def __init__(self, *wanted: str) -> None:
        self.wanted = wanted
        self.score_name = "relevance_score"
        self.faults: deque[Any] = deque()
        self.requests: list[dict[str, Any]] = []
        service = self

        class Handler(_Handler):
            peer = service

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> "RerankService":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What a client is given as its base URL."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        """What such a service says to a request."""
        documents: Any = body.get("documents")
        is_list = isinstance(documents, list) and documents and all(isinstance(text, str) for text in documents)
        if set(body) != _FIELDS or body["model"] != MODEL or not is_list or not body["query"] or "" in documents:
            return 400, {"message": "the request is not of the right form"}
        if not 1 <= body["top_n"] <= len(documents):
            return 400, {"message": "top_n is out of range"}
        scores = [sum(word in text for word in self.wanted) / max(1, len(self.wanted)) for text in documents]
        results = [{"index": index, self.score_name: score} for index, score in enumerate(scores)]
        results.sort(key=lambda item: -item[self.score_name])
        return 200, {"results": results[: body["top_n"]], "meta": {"billed_units": {"search_units": 1}}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    peer: RerankService

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/rerank":
            self._send(404, {"message": "no such path"})
        elif self.headers.get("Authorization") != f"Bearer {KEY}":
            self._send(401, {"message": f"invalid api token {self.headers.get('Authorization')}"})
        else:
            self.peer.requests.append(body)
            self._send_faulty(self.peer.faults.popleft() if self.peer.faults else None, body)

    def _send_faulty(self, fault: Any, body: dict[str, Any]) -> None:
        if isinstance(fault, int):
            self._send(fault, {"message": f"told to say {fault} about {KEY}"})
        elif fault == "words":
            self._send_bytes(200, b"<html>hello</html>")
        elif isinstance(fault, (list, dict)):
            self._send(200, {"results": fault} if isinstance(fault, list) else fault)
        else:
            if fault == "slow":
                time.sleep(SLOW_SECONDS)
            self._send(*self.peer.answer(body))

    def _send(self, status: int, answer: Any) -> None:
        self._send_bytes(status, json.dumps(answer).encode())

    def _send_bytes(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
