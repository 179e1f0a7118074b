"""The answer to a message from the link: pieces go to the companion as they come, one message at a time.

New pieces wait for the next message up to a bound; beyond it the answer waits a little for the link, then
gives it up. The journal has the answer, and the companion asks for it later.
"""

import asyncio

from engram import text
from engram.compat import wait_for_ms
from engram.errors import ArgumentError, NetError
from engram.interrupt import start_task, stop_task
from engram.link.messages import PUSH_CHARS
from engram.link.rpc import Body
from engram.memory import access
from engram.memory.access import OWNER, Caller

ROOM = "link "

_MID = "link:"
_LONGEST = const(10_000)  # characters of a piece, which fits into a message however it is escaped
_WAITING = const(1600)  # characters that wait for the message under way
_ROOM_MS = const(8000)  # that an answer waits for the link, while others wait for it

_NOT_OWNER = (
    "the board does not let its companion speak for the owner: type `/setting companion.chat owner` on its console."
)
_CANCELLED = "the answer was cancelled."


class Conversation:
    """A sink that sends replies to the message `head`; `saved` is set once it is on flash or over."""

    is_confirming = False
    may_exceed_queue = True

    def __init__(self, sync, head: dict):
        self._sync = sync
        self._head = head
        self.mid = head["mid"]
        self.is_repeated = head["offer"] > 1
        self.turn = ""
        self.saved = asyncio.Event()
        self._items = []
        self._has_items = asyncio.Event()
        self._has_room = asyncio.Event()
        self._is_lost = False  # nothing goes over the link any more
        self._is_sent = False  # the companion has the end
        self._is_cancelled = False
        self._has_text = False
        self._work = None

    async def run(self, take, content: str, mode: str) -> bool:
        """Answer the message and send the result; True if the companion has its end."""
        sending = start_task(self._send)
        head = self._head
        try:
            caller = caller_of(head, mode)
            edits = head["edits"] and _MID + head["edits"]
            origin = head["forwarded"], head["quoted"], edits
            self._work = start_task(take, _MID + self.mid, caller, content, head["command"], origin, self)
            await self._work
        except ArgumentError as error:
            await self.problem(str(error))
            await self.end(None)
        except asyncio.CancelledError:
            if not self._is_cancelled:
                raise
            await self.problem(_CANCELLED)
            await self.end(None)
        finally:
            sending.cancel()
            await stop_task(self._work)  # which keeps the answer so far
        return self._is_sent

    def cancel(self) -> None:
        if self._work and not self._is_cancelled:
            self._is_cancelled = True
            self._work.cancel()

    # --- what the agent and commands tell

    async def on_saved(self, turn: str) -> None:
        self.turn = turn
        self.saved.set()

    async def text(self, piece: str) -> None:
        self._has_text = True
        for at in range(0, len(piece), _LONGEST):
            await self._add("text", piece[at : at + _LONGEST])

    async def notice(self, line: str) -> None:
        await self._add("notice", line)

    async def working(self, sign: str, is_first: bool) -> None:
        if is_first:
            await self.report({"working": sign})

    async def recalled(self, shown: list) -> None:
        """Report the memories shown to the model along with the next message."""
        self._items.append(["report", text.dumps({"recalled": shown})])

    async def line(self, line: str) -> None:
        await self._add("line", line)

    async def report(self, fields: dict) -> None:
        await self._add("report", text.dumps(fields))

    async def problem(self, problem: str) -> None:
        await self._add("problem", problem)

    refuse = problem

    async def on_saved_reply(self, reply) -> None:
        """Replace the companion's part of the reply by a saved one."""
        await self.text(reply.with_age())

    async def end(self, outcome) -> bool:
        """End the answer; True if the companion has all of it."""
        if outcome and outcome.reply and not self._has_text:
            await self.text(outcome.reply)
        await self._add("end", outcome.turn if outcome else "")
        while not (self._is_lost or self._is_sent):
            self._has_room.clear()
            await self._has_room.wait()
        return not self._is_lost

    # --- sending

    async def _add(self, kind: str, content: str) -> None:
        while not self._is_lost and self._is_full(content):
            self._has_items.set()
            self._has_room.clear()
            try:
                await wait_for_ms(self._has_room.wait(), _ROOM_MS)
            except asyncio.TimeoutError:
                self._lose()
        if self._is_lost or self._is_sent:
            return
        items = self._items
        if items and items[-1][0] == kind == "text":
            items[-1][1] += content
        else:
            items.append([kind, text.cut(content, _LONGEST)])
        self._has_items.set()

    def _is_full(self, content: str) -> bool:
        return bool(self._items) and sum([len(piece) for _, piece in self._items], len(content)) > _WAITING

    async def _send(self) -> None:
        k = 0
        try:
            while not self._is_sent:
                await self._has_items.wait()
                self._has_items.clear()
                items, self._items = self._items, []
                self._has_room.set()
                k += 1
                data = text.dumps(items).encode()
                body = Body(len(data), lambda data=data: (data,))
                answer = await self._sync.ask("reply", body, mid=self.mid, offer=self._head["offer"], k=k)
                if items[-1][0] == "end":
                    self._is_sent = True
                elif answer["cancel"]:
                    self.cancel()
            self._has_room.set()
        except NetError:
            pass  # the answer is in the journal, and is asked for again
        finally:
            if not self._is_sent:
                self._lose()

    def _lose(self) -> None:
        self._is_lost = True
        self._items = []
        self._has_room.set()


async def push(sync, room: str, content: str, turn: str) -> bool:
    """Send a message by the board itself; True if the companion has it, once per id."""
    mid = "push:%d:%s" % (sync.copies[1].epoch, turn)
    try:
        await sync.ask("push", mid=mid, room=room[len(ROOM) :], text=text.cut(content, PUSH_CHARS))
    except NetError:
        return False
    return True


def caller_of(head: dict, mode: str) -> Caller:
    """Return the Caller of a message; ArgumentError if it may not speak for them."""
    room = ROOM + head["room"]
    if head["principal"] == OWNER.principal and mode != "owner":
        raise ArgumentError("companion.chat", _NOT_OWNER)
    return access.check_caller(Caller(head["principal"], room, head["group"], head["workspace"]))
