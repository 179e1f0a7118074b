"""Server-sent events, as a service sends them and as the gateway passes them on."""

import re
from dataclasses import dataclass

from engram_host.companion.gateway.errors import ServiceFailed

MOST_EVENT = 1 << 20
"""Bytes of one event: protects the memory from a service that never ends one."""

_NAME = re.compile(r"[a-z_.]{1,64}")


@dataclass(frozen=True)
class ServerEvent:
    """An event: its name, "" if it has none, and its data; None is a comment, which keeps a connection alive."""

    name: str
    data: bytes | None

    def encode(self) -> bytes:
        """The event's bytes; its data is one line."""
        if self.data is None:
            return b":\n\n"
        name = f"event: {self.name}\n".encode() if _NAME.fullmatch(self.name) else b""
        return name + b"data: " + self.data + b"\n\n"


class EventParser:
    """Finds events in bytes that come in pieces. ServiceFailed if one is too long."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._name = ""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """Take a piece; the events that it ends."""
        found: list[ServerEvent] = []
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._hold(line)
            whole = bytes(self._line).removesuffix(b"\r")
            self._line.clear()
            found += self._end_line(whole)
        self._hold(rest)
        return found

    def end(self) -> list[ServerEvent]:
        """The event that the end of the stream ends."""
        line, self._line = bytes(self._line), bytearray()
        return self._end_line(line) + self._end_line(b"")

    def _hold(self, part: bytes) -> None:
        self._line += part
        if len(self._line) + sum(map(len, self._data)) > MOST_EVENT:
            raise ServiceFailed(502, "the model's service sent an event that is too long.", "upstream_failed")

    def _end_line(self, line: bytes) -> list[ServerEvent]:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value.decode("ascii", "replace")
        elif not name and line:
            return [ServerEvent("", None)]
        if line:
            return []
        found = [ServerEvent(self._name, b"\n".join(self._data))] if self._data else []
        self._name, self._data = "", []
        return found
