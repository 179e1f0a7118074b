"""A board as a program of the host speaks for it: makes lines as a board writes them, and messages of them."""

import json
from binascii import crc32
from collections.abc import Iterable
from typing import Any

from engram import log_line
from engram.link import messages


def digest(lines: Iterable[bytes]) -> str:
    """The digest of lines in their order, as it stands in a message: the crc32 of their own crcs."""
    check = 0
    for line in lines:
        check = crc32(line[-11:-3], check)
    return messages.shown(check)


class Sent:
    """A board with two logs in RAM; `post(device, message)` gives the answers."""

    def __init__(
        self, post, device: str = "kitchen", board: str = "b1", epoch: int = 11, zone: int = 0, rule: str = ""
    ):
        self.post = post
        self.device = device
        self.board = board
        self.zone = zone
        self.rule = rule
        self.link = 1
        self.n = 0
        self.epoch = epoch
        self.rewrites = 0
        self.lines: dict[str, list[tuple[int, bytes]]] = {"records": [], "journal": []}

    def say(self, text: str, **more: Any) -> int:
        """Write a turn; its seq."""
        seq = self._next("journal")
        fields = {
            "sid": "s1",
            "role": "user",
            "who": "owner",
            "text": text,
            "at": 1795247156 + seq,
            "prev": seq - 1,
            "n": seq - 1,
        }
        fields |= {"scope": "user:owner", **more}
        return self._write("journal", seq, fields)

    def keep(self, content: str, **more: Any) -> int:
        """Write a record; its seq."""
        seq = self._next("records")
        fields = {"id": f"m{seq}", "content": content, "tags": ["note"], "created": 1795247156 + seq, **more}
        return self._write("records", seq, fields)

    def note(self, file: str, text: str) -> None:
        """Send a note as it stands on the flash."""
        content = text.encode()
        answer = self.ask("note", content, epoch=self.epoch, file=file, digest=messages.shown(crc32(content)))
        assert answer["op"] == "noted", answer

    def write(self, log: str, **fields: Any) -> int:
        """Write any line; its seq."""
        return self._write(log, self._next(log), fields)

    def _next(self, log: str) -> int:
        return self.lines[log][-1][0] + 1 if self.lines[log] else 1

    def _write(self, log: str, seq: int, fields: dict[str, Any]) -> int:
        self.lines[log].append((seq, log_line.encode([("seq", seq), *fields.items()])))
        return seq

    # --- messages

    def hello(self) -> dict[str, Any]:
        """Begin a connection; the answer's head."""
        self.link += 1
        logs = {name: [self.epoch, 1, self._next(name), self.rewrites] for name in self.lines}
        return self.ask("hello", b"", version=1, zone=self.zone, relied=0, rule=self.rule, **logs)

    def send(self, log: str, after: int = 0, to: int | None = None) -> dict[str, Any]:
        """Send the lines of a span; the answer's head."""
        to = self._next(log) - 1 if to is None else to
        lines = [line for seq, line in self.lines[log] if after < seq <= to]
        return self.ask("lines", b"".join(lines), log=log, epoch=self.epoch, after=after, to=to, count=len(lines))

    def sync(self) -> None:
        """Say hello and send all."""
        welcome = self.hello()
        for log in ("records", "journal"):
            after = welcome[log][0]
            while after < self._next(log) - 1:
                after = self.send(log, after, min(after + 50, self._next(log) - 1))["have"]

    def offered(self, seconds: int = 60) -> dict[str, Any]:
        """What it is given of what people say to it, within some seconds; the answer's head."""
        return self.ask("listen", wait=seconds, mid="", turn="")

    def answer(self, *items: str | list[str], turn: str = "") -> str:
        """Answer the oldest message to it with lines, and items such as ["problem", "..."]; the message's text."""
        head = self.offered()
        assert head.get("op") == "say", head
        told = [["line", each] if isinstance(each, str) else each for each in items]
        self.ask("reply", mid=head["mid"], offer=head["offer"], k=1, items=[*told, ["end", turn]])
        return head["text"]

    def ask(self, op: str, body: bytes = b"", **fields: Any) -> dict[str, Any]:
        """Send a message; the answer's head, {} if there is none, with the `text` behind it, or the `items` found."""
        self.n += 1
        if op == "reply":
            body = json.dumps(fields.pop("items")).encode()
        answer = self.post(self.device, messages.encode(op, self.board, self.link, self.n, **fields) + body)
        if not answer:
            return {}
        head, behind = messages.decode(answer, messages.TO_BOARD)
        text = bytes(behind).decode()
        return head | ({"items": json.loads(text)} if head["op"] == "found" else {"text": text})
