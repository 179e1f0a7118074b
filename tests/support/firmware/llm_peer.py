"""A service in the same process, for tests of the LLM client: it plays bytes, and keeps what it was sent."""

import asyncio
import random

from engram.compat import sleep_ms
from support import closed, let_others_run

CLOSE = None
"""A step of an answer: close the link."""

GONE = ""
"""A step of an answer: wait until the client closes the link."""


def answer(body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    """A whole answer with its length."""
    head = "HTTP/1.1 " + status + "\r\nContent-Length: " + str(len(body)) + "\r\n" + headers + "\r\n"
    return head.encode() + body


def stream(events) -> bytes:
    """A whole answer that is a chunked stream of events, each given as its data."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"".join(b"data: " + event.encode() + b"\n\n" for event in events)
    return head + hex(len(body))[2:].encode() + b"\r\n" + body + b"\r\n0\r\n\r\n"


class Peer:
    """Serves each request with the next of `answers`: a list of steps that are bytes to send, ms to wait, CLOSE or GONE."""

    def __init__(self, *answers, reads_bodies=True):
        self.answers = list(answers)
        self.requests = []
        self.connections = 0
        self.ended = 0
        self.url = ""
        self._reads_bodies = reads_bodies
        self._server = None
        self._tasks = []

    async def __aenter__(self):
        while True:
            port = 30000 + random.getrandbits(11)  # beside those of tests/support/companion/peers.py
            try:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
                break
            except OSError:
                pass  # the port is taken
        self.url = "http://127.0.0.1:" + str(port)
        return self

    async def __aexit__(self, kind, error, trace):
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await let_others_run()

    async def _serve(self, reader, writer):
        self.connections += 1
        self._tasks.append(asyncio.current_task())
        try:
            while self.answers and await self._take_request(reader):
                if not await self._play(self.answers.pop(0), writer, reader):
                    break
        except (OSError, EOFError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            await closed(writer)
            self.ended += 1

    async def _take_request(self, reader):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = await reader.readline()
            if not line:
                return False
            head += line
        body = b""
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:") and self._reads_bodies:
                body = await reader.readexactly(int(line[15:]))
        self.requests.append((head, body))
        return True

    async def _play(self, steps, writer, reader):
        for step in steps:
            if step is CLOSE or (step == GONE and not await reader.read(1)):
                return False
            if isinstance(step, int):
                await sleep_ms(step)
            else:
                writer.write(step)
                await writer.drain()
        return True
