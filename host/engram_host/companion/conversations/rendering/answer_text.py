"""The text of an answer from its pieces; it only grows unless the answer restarts."""

import json

from engram.text.cutting import closes, fence_of
from engram_host.companion.types import Piece

MOST_BYTES = 100_000

LEFT_OUT = "(The rest is left out here; `engram chat` shows all of an answer.)"
NOTHING = "(The answer is empty.)"
CANCELLED = "(The answer was cancelled.)"
GONE = "(The answer is not kept any more: ask again.)"


class _Fence:
    def __init__(self) -> None:
        self._marks = b""
        self._line = bytearray()

    def feed(self, data: bytes) -> None:
        *ended, rest = data.split(b"\n")
        for line in ended:
            self._line += line
            self._marks = _fence_after(self._marks, bytes(self._line))
            self._line.clear()
        self._line += rest

    def open_marks(self) -> bytes:
        return _fence_after(self._marks, bytes(self._line))


def _fence_after(fence: bytes, line: bytes) -> bytes:
    if not fence:
        return fence_of(line)
    return b"" if closes(line, fence) else fence


_RECALLED = '{"recalled":'


class AnswerText:
    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.data = bytearray()
        self._fence = _Fence()
        self._last = ""
        self._is_full = False
        self._reports: list[str] = []

    def add(self, piece: Piece) -> None:
        if piece.kind == "again":
            self._reset()
        elif piece.kind == "report":
            # Only programs get reports; recalled memories are not shown in chats.
            self._reports += [] if piece.text.startswith(_RECALLED) else [piece.text]
        elif not self._is_full:
            self._add(piece.kind, piece.text)

    def end(self, tail: str = "", if_empty: str = NOTHING) -> None:
        if not self.data.strip():
            self.data.clear()
            self._add("line", "\n".join(map(_in_words, self._reports)) or tail or if_empty)
        elif tail and not self._is_full:
            self._add("line", tail)

    def _add(self, kind: str, text: str) -> None:
        before = self._last
        if kind == "text":
            text = text if self.data else text.lstrip()
            if not text:
                return
            mark = "\n\n" if before not in ("", "text") else ""
        else:
            text = {"notice": "· ", "problem": "! "}.get(kind, "") + text
            mark = self._closing() + "\n\n" if before == "text" else "\n" if self.data else ""
        self._append(mark + text)
        self._last = kind

    def _append(self, text: str) -> None:
        data = text.encode()
        if len(self.data) + len(data) > MOST_BYTES:
            self._is_full = True
            room = data[: MOST_BYTES - len(self.data)]
            self._grow(room.decode(errors="ignore").encode())
            data = (self._closing() + "\n\n" + LEFT_OUT).encode()
        self._grow(data)

    def _grow(self, data: bytes) -> None:
        self.data += data
        self._fence.feed(data)

    def _closing(self) -> str:
        fence = self._fence.open_marks()
        return "\n" + fence.decode() if fence else ""


def _in_words(report: str) -> str:
    try:
        fields = json.loads(report)
    except ValueError:
        return report
    if not isinstance(fields, dict):
        return report
    return ", ".join(f"{name}: {value}" for name, value in fields.items() if value not in ("", [], {}, None))
