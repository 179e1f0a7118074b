"""The console on the serial line, or on a pipe: a line is a message or a command.

Where a person types, keys are taken while an answer comes, too, and Ctrl-C stops the console, in the middle of an
answer as well: what has come of it is kept. (On a chip's own serial line Ctrl-C does not get here, MicroPython raises
KeyboardInterrupt; see App.run.)

For programs there is engram.channels.console.json_lines, from `/json on` to `/json off`.
"""

import asyncio
import select
import sys

from engram import text
from engram.channels.console.json_lines import JsonLines
from engram.channels.console.line_editor import LineEditor
from engram.channels.message import ChannelSink, Message
from engram.interrupt import start_task
from engram.memory.access import OWNER, Caller

_AT_ONCE = const(256)  # bytes taken between two looks at other tasks
_AHEAD = const(1024)  # bytes typed while an answer comes that are kept: more wait in the serial line's own buffer
_CTRL_C = const(0x03)

_LINE_BYTES = const(12000)  # one is on the heap whole, with its text

PROMPT = "> "
STOPPED = "stopped; app.run() goes on, app.memory is at hand."


class Console(ChannelSink):
    """The owner's console; `inbox` answers."""

    def __init__(self, config, inbox, source=None, target=None):
        self._config = config
        self._inbox = inbox
        self._target = target or sys.stdout
        self._echo = self._write if config.get("console.echo") else None
        self._input = ConsoleInput(source or sys.stdin.buffer, is_typed=bool(self._echo))
        self._editor = LineEditor(_LINE_BYTES, self._echo)
        self._prompt = PROMPT if config.get("console.prompt") else ""
        # A terminal in raw mode wants a carriage return; a pipe does not.
        self._line_end = "\r\n" if self._echo else "\n"
        self._column = 0
        self._is_after_notice = False
        self._is_waiting = False  # for typed input
        self._lines = iter(())
        self._json = None

    async def run(self) -> None:
        """Answer lines until the input ends or Ctrl-C; run() may be called again."""
        # Whoever restarts it is a person, whatever talked before.
        self._be_plain()
        self._editor.ended = False
        try:
            await self._run()
        except Interrupted:
            self._be_plain()
            self._lines = iter(())
            self._editor.rest()
            self._end_line()
            self.show(STOPPED)

    async def _run(self) -> None:
        self._write(self._prompt)
        while True:
            for line in self._lines:
                # The bytes go before the answer comes: of a long message, one copy is enough.
                line = await self._message(line)
                await self._handle(line)
                if not self._json:
                    self._write(self._prompt)
            self._is_waiting = True
            data = b"" if self._editor.ended else await self._input.read()
            self._is_waiting = False
            if not len(data):
                break
            self._lines = self._editor.feed(data)
        rest = self._editor.rest()
        if rest is not None:
            await self._handle(await self._message(rest))
        if self._prompt and not self._json:
            self.show("")

    async def _message(self, line):
        told = self._json or self
        if isinstance(line, int):
            problem = "the line has %d bytes, at most %d are taken: send it in parts."
            await told.refuse(problem % (line, _LINE_BYTES))
            return b"" if self._json else ""
        if self._json:
            return line
        return text.decode(line).replace("\0", "").strip()

    async def _handle(self, message) -> None:
        if self._json:
            if not await self._json.handle(message):
                self._be_plain()
        elif message == "/json on":
            self._editor.echo_to(None)
            self._json = JsonLines(self.handle, self._target.write, _LINE_BYTES)
        elif message:
            await self.handle(Message("", None, message, message[0] == "/", "", "", ""), self)

    async def handle(self, message: Message, sink: ChannelSink):
        """Answer a message of the owner and return the turn's outcome."""
        owner = Caller(OWNER.principal, OWNER.room, False, self._config.get("console.workspace"))
        message = Message(message.mid, owner, *message[2:])
        return await self._input.run_interruptible(self._inbox.handle, message, sink)

    # --- for people, or for programs

    def _be_plain(self) -> None:
        if self._json:
            self._json = None
            self._editor.echo_to(self._echo)

    # --- what the board begins to say

    async def show_push(self, content: str, turn: str) -> bool:
        if self._json:
            self._json.push(content, turn)
            return True
        self._end_line()
        for line in content.split("\n"):
            self.show("· " + line)
        self._is_after_notice = True
        if self._is_waiting:
            self._write(self._prompt + text.decode(self._editor.typed))
        return True

    # --- the agent's output

    async def working(self, sign: str, is_first: bool) -> None:
        if is_first:
            await self.notice(sign + " ...")
        else:
            self._write(".")

    async def text(self, piece: str) -> None:
        if self._is_after_notice:
            self._end_line()  # of signs of work
            # The notice has ended the line already.
            piece = piece.lstrip("\n")
            self._is_after_notice = not piece
        self._write(text.printable(piece))

    async def line(self, line: str) -> None:
        self._end_line()
        self.show(line)
        self._is_after_notice = True

    async def end(self, outcome) -> bool:
        self._end_line()
        return True

    def show(self, line: str) -> None:
        self._write(text.printable(line) + "\n")

    def _end_line(self) -> None:
        if self._column:
            self._write("\n")

    def _write(self, output: str) -> None:
        if not output:
            return
        # A notice needs a new line unless the cursor is at the start of one.
        self._column = 0 if output[-1] in "\r\n" else 1
        if self._line_end != "\n":
            output = output.replace("\r\n", "\n").replace("\n", self._line_end)
        self._target.write(output)


class Interrupted(Exception):
    """Ctrl-C was typed."""


class ConsoleInput:
    """Non-blocking bytes of a pollable file; Ctrl-C from a person raises Interrupted."""

    def __init__(self, file, is_typed: bool = False):
        self._file = file
        self._is_typed = is_typed
        self._reader = asyncio.StreamReader(file)
        self._poll = select.poll()
        self._poll.register(file, select.POLLIN)
        self._buffer = bytearray(_AT_ONCE)
        self._ahead = bytearray()
        self._is_stopped = False

    async def read(self):
        """Return the available bytes, none at the end of the input."""
        if self._ahead:
            data, self._ahead = self._ahead, bytearray()
            return data
        byte = await self._reader.read(1)
        count = 0
        while byte:
            if self._is_typed and byte[0] == _CTRL_C:
                raise Interrupted
            self._buffer[count] = byte[0]
            count += 1
            # read(n) would wait for n bytes: read one at a time while there are some.
            byte = self._file.read(1) if count < _AT_ONCE and self._poll.poll(0) else b""
        return memoryview(self._buffer)[:count]

    async def run_interruptible(self, work, *arguments):
        """Await `work`, keeping typed bytes; Ctrl-C cancels it and raises Interrupted."""
        if not self._is_typed:
            return await work(*arguments)
        self._is_stopped = False
        task = start_task(work, *arguments)
        keys = start_task(self._look_ahead, task)
        try:
            return await task
        except asyncio.CancelledError:
            if self._is_stopped:
                raise Interrupted
            raise
        finally:
            keys.cancel()

    async def _look_ahead(self, task) -> None:
        while len(self._ahead) < _AHEAD:
            key = await self._reader.read(1)
            if not key:
                return
            if key[0] == _CTRL_C:
                self._ahead = bytearray()
                self._is_stopped = True
                task.cancel()
                return
            self._ahead.extend(key)
