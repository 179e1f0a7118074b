"""What the board begins to say on the console, to the person there or to a program."""

from engram.channels.inbox import ChannelSink
from engram.memory.access import OWNER


class ConsolePush(ChannelSink):
    """Shows one such text; `show` is the console's show_push(), `room` the program's room, "" for the person at the console."""

    is_confirming = True

    def __init__(self, show, room: str):
        self._show = show
        self._room = room
        self._turn = None
        self._content = ""

    async def notice(self, line: str) -> None:
        """A line about it."""
        self._content += line + "\n"

    async def on_saved_reply(self, reply) -> None:
        """What it says."""
        self._turn = reply.turn
        self._content += reply.with_age()

    async def end(self, outcome) -> bool:
        """Show it."""
        if self._content:
            self._show(self._content, self._turn, self._room)
        return True


def open_sink(console, room: str) -> tuple:
    """A sink for a room of the console or of the program at it, and the room; nothing goes there for a message's id."""
    if room == OWNER.room:
        return ConsolePush(console.show_push, ""), room
    name, _, rest = room.partition(" ")
    if name != "line" or not rest:
        return None, ""
    return ConsolePush(console.show_push, rest) if console.is_for_programs else None, room
