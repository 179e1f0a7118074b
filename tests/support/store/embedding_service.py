"""An embedding service for the tests: OpenAI's form, its batch jobs and Gemini's, strict about requests, faulty on demand."""

import base64
import hashlib
import json
import re
import threading
import time
from collections import deque
from email.parser import BytesParser
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
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.polls_until_done = 1
        self.bad_lines: set[str] = set()
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
        if body.get("encoding_format", "float") not in ("float", "base64") or len(texts) > 2048:
            return 400, {"error": {"message": "the request is not of the right form", "type": "invalid_request_error"}}
        if any(text in self.refused_texts for text in texts):
            return 400, {"error": {"message": "that text is not taken"}}
        width = body.get("dimensions", WIDTH)
        items = [
            {"object": "embedding", "index": index, "embedding": _shown(vector_of(text, "", width), body)}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "data": items, "model": MODEL, "usage": usage}

    def answer_gemini(self, model: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """To models/...:batchEmbedContents."""
        requests = body.get("requests")
        if set(body) != {"requests"} or not isinstance(requests, list) or not 1 <= len(requests) <= 100:
            return 400, {"error": {"message": "requests are not of the right form"}}
        rows = []
        for one in requests:
            if set(one) - {"model", "content", "taskType", "outputDimensionality"} or one["model"] != f"models/{model}":
                return 400, {"error": {"message": "a request is not of the right form"}}
            [part] = one["content"]["parts"]
            width = one.get("outputDimensionality", WIDTH)
            rows.append({"values": vector_of(part["text"], one["taskType"], width).tolist()})
        return 200, {"embeddings": rows}

    def start_job(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """To /batches: the job is done after `polls_until_done` looks at it."""
        if body.get("endpoint") != "/v1/embeddings" or body.get("completion_window") != "24h":
            return 400, {"error": {"message": "the job is not of the right form"}}
        done, failed = [], []
        for line in self.files[body["input_file_id"]].splitlines():
            request = json.loads(line)
            assert set(request) == {"custom_id", "method", "url", "body"}
            assert (request["method"], request["url"]) == ("POST", "/v1/embeddings")
            status, answer = self.answer(request["body"])
            if request["body"]["input"] in self.bad_lines:
                status, answer = 400, {"error": {"message": "that line is not taken"}}
            response = {"status_code": status, "request_id": "r", "body": answer}
            entry = {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}
            (done if status == 200 else failed).append(json.dumps(entry))
        name = f"batch_{len(self.jobs)}"
        self.jobs[name] = {
            "id": name,
            "status": "in_progress",
            "looks": 0,
            "output_file_id": self._put_file("\n".join(reversed(done)).encode()) if done else None,
            "error_file_id": self._put_file("\n".join(failed).encode()) if failed else None,
        }
        return 200, self.jobs[name]

    def look_at(self, name: str) -> tuple[int, dict[str, Any]]:
        """To /batches/ID."""
        if name not in self.jobs:
            return 404, {"error": {"message": "no such batch"}}
        job = self.jobs[name]
        job["looks"] += 1
        if job["looks"] > self.polls_until_done and job["status"] == "in_progress":
            job["status"] = "completed"
        files = {"output_file_id": None, "error_file_id": None} if job["status"] == "in_progress" else {}
        return 200, {**job, **files}

    def _put_file(self, content: bytes) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return name

    def take_file(self, kind: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """To /files: a form with `purpose` and `file`."""
        form = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
        parts = {
            part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
            for part in form.walk()
            if part is not form
        }
        file = parts["file"]
        assert parts["purpose"] == b"batch" and isinstance(file, bytes)
        return 200, {"id": self._put_file(file), "object": "file"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    peer: EmbeddingService

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        if found := re.fullmatch(r"/v1/batches/(\w+)", self.path):
            self._send(*self.peer.look_at(found[1]))
        elif found := re.fullmatch(r"/v1/files/([\w-]+)/content", self.path):
            self._send_bytes(200, self.peer.files[found[1]])
        else:
            self._send(404, {"error": {"message": "no such path"}})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        gemini = re.fullmatch(r"/v1/models/([\w.-]+):batchEmbedContents", self.path)
        key = self.headers.get("x-goog-api-key") if gemini else self.headers.get("Authorization", "")[len("Bearer ") :]
        self.peer.headers.append({name.lower(): value for name, value in self.headers.items()})
        if key != KEY:
            self._send(401, {"error": {"message": f"Incorrect API key provided: {key}"}})
            return
        if self.path == "/v1/files":
            self._send(*self.peer.take_file(self.headers["Content-Type"], body))
            return
        request = json.loads(body)
        self.peer.requests.append(request)
        fault = self.peer.faults.popleft() if self.peer.faults else None
        status, more = fault if isinstance(fault, tuple) else (fault, {})
        if isinstance(status, int):
            self._send(status, {"error": {"message": f"told to say {status} about {KEY}"}}, more)
        elif self.path == "/v1/batches":
            self._send(*self.peer.start_job(request))
        elif gemini:
            self._send(*self.peer.answer_gemini(gemini[1], request))
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


def _shown(vector: np.ndarray, body: dict[str, Any]) -> Any:
    return base64.b64encode(vector.tobytes()).decode() if body.get("encoding_format") == "base64" else vector.tolist()
