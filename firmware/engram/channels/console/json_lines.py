"""The console for programs: one JSON object per line, both ways, as in docs/reference/serial.md.

Lines are those of engram.log_line. Input may omit the crc until one line had it: a busy board's UART loses
bytes, and half a message must not pass for a whole one.
"""

import gc

from engram import __version__, log_line, text
from engram.channels.message import ChannelSink, Message

_PROTOCOL = const(1)  # counts up when a program that knew the last one would misunderstand this one
_PIECE = const(1000)  # characters of an answer in a line: more would take the heap several times
_CHECK = const(20)  # bytes at the end of a line in which its crc begins
_SHORT = const(16)  # bytes: a command that is no JSON is shorter
_ID_LONGEST = const(64)  # characters: an id comes back in every line

_NO_JSON = 'the line is no JSON object such as {"id":1,"say":"hello"}; a line  /json off  ends this way of talking.'
_DAMAGED = const("the line was damaged on its way, or has no crc though an earlier one had: send it again.")
_TOO_MUCH = const("the board has not enough free memory for a line of this length: send it in parts.")
_ONE = const("a request has either say or command, and id and mid if you want.")


class JsonLines(ChannelSink):
    def __init__(self, answer, write, limit: int):
        self._answer = answer
        self._write = write
        self._limit = limit
        self._id = None
        self._wants_crc = False
        write("\n")  # whatever stood in the line before
        self._greet()

    def _greet(self) -> None:
        self._write_line((("engram", __version__), ("json", _PROTOCOL), ("line_bytes", self._limit)))

    async def handle(self, line) -> bool:
        """Answer a line; False if it was the last one."""
        plain = bytes(line[:_SHORT]).strip()
        if plain == b"/json on":
            # A program that cannot know in which way the board talks begins with it.
            self._greet()
        elif plain == b"/json off":
            return False
        elif plain or len(line) > _SHORT:
            await self._handle(line)
        return True

    async def _handle(self, line) -> None:
        self._id = None
        try:
            message = self._request(line)
        except (ValueError, MemoryError) as error:
            gc.collect()
            await self.problem(_TOO_MUCH if isinstance(error, MemoryError) else str(error))
            if self._id is not None:
                await self.end(None)
            return
        self._send(("taken", True))
        await self._answer(message, self)

    async def end(self, outcome) -> bool:
        self._send(("done", True), ("turn", outcome.turn or None if outcome else None))
        self._id = None
        return True

    def _request(self, line) -> Message:
        """Return the owner's message of a line; ValueError if it is invalid."""
        fields = self._fields(line)
        name = fields.pop("id", None)
        if isinstance(name, bool) or not (name is None or isinstance(name, (int, float, str))):
            raise ValueError("an id must be a number or a text.")
        if isinstance(name, str) and len(name) > _ID_LONGEST:
            raise ValueError("an id must have at most %d characters." % _ID_LONGEST)
        self._id = name
        mid = fields.pop("mid", "")
        if not isinstance(mid, str):
            raise ValueError("mid must be a text.")
        for kind in ("say", "command"):
            message = fields.get(kind)
            if len(fields) == 1 and isinstance(message, str):
                if not message.strip() or "\0" in message:
                    raise ValueError(kind + " must be a text, and without NUL.")
                if kind == "command" and message[0] != "/":
                    raise ValueError("a command begins with a slash; /help lists them.")
                return Message(mid, None, message.strip(), kind == "command", "", "", "")
        raise ValueError(_ONE)

    def _fields(self, line) -> dict:
        if self._wants_crc or b'"crc":' in bytes(line[-_CHECK:]):
            line.append(0x0A)
            try:
                fields = log_line.decode(line)
            except ValueError:
                raise ValueError(_DAMAGED)
            self._wants_crc = True
            return fields
        fields = text.object_in(line)
        if fields is None:
            raise ValueError(_NO_JSON)
        return fields

    # --- what the console and the agent tell

    async def problem(self, problem: str) -> None:
        self._send(("error", problem))

    refuse = problem

    async def on_saved_reply(self, reply) -> None:
        self._send(("kept", True))
        await self.text(reply.with_age())

    async def line(self, line: str) -> None:
        while len(line) > _PIECE:
            self._send(("line", line[:_PIECE]), ("more", True))
            line = line[_PIECE:]
        self._send(("line", line))

    async def report(self, fields: dict) -> None:
        self._send(("report", fields))

    async def text(self, piece: str) -> None:
        for start in range(0, len(piece), _PIECE):
            self._send(("text", piece[start : start + _PIECE]))

    async def working(self, sign: str, is_first: bool) -> None:
        if is_first:
            await self.notice(sign + " ...")

    async def notice(self, line: str) -> None:
        self._send(("notice", line))

    def push(self, content: str, turn: str) -> None:
        self._write_line((("push", content), ("turn", turn)))

    def _send(self, *fields) -> None:
        self._write_line((("id", self._id),) + fields)

    def _write_line(self, fields) -> None:
        self._write(log_line.encode(fields).decode())
