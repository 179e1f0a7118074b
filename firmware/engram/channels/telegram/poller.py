"""Receives a bot's updates and confirms saved ones: Telegram drops an update once a later one is requested.

An update is open until its message is on flash or answered. The offset stays at the first open update, and
repeated ones are skipped. After a power cut the journal knows the answered ones.
"""

from engram import diag
from engram.channels.telegram.bot_api import NAME, BotError
from engram.channels.telegram.updates import Bot, Ignored, Incoming, moved_group
from engram.clock import Backoff, Moment, Timeout
from engram.compat import sleep_ms
from engram.text import part

LONG_POLL_S = 50
"""Seconds for which Telegram holds a poll open."""

AT_ONCE = const(3)
"""Messages answered or waiting; one of the board's four is left to the console."""

_OPEN_POLL_MS = const(2000)  # while messages wait: others are to get their typing sign, too
_CONFLICT_MS = const(20_000)  # another program that polls goes on for its own 50 seconds
_STEP_MS = const(100)
_LOOK_MS = const(20)
_FORGOTTEN_S = const(6 * 86400)  # after a week without an update Telegram chooses other numbers

_NO_BOT = const("Telegram does not know the bot: set telegram.token (`make setup` asks for it), and restart the board.")
_CONFLICT = const("another program takes this bot's messages: stop it, or give the board a bot of its own")


class Poller:
    """The poller of one bot; on_moved(chat, new) reports a group that became a supergroup."""

    def __init__(self, api, clock, on_moved):
        self._api = api
        self._clock = clock
        self._on_moved = on_moved
        self._open = []  # the numbers of updates whose messages are not taken
        self._next = 0  # the number after the newest update
        self._album = ""  # the newest one
        self._backoff = Backoff()
        self.bot = Bot(0, "")
        self.since = None
        self.newest = None
        self.problem = "not tried yet"
        self.is_stopped = False

    async def connect(self) -> None:
        """Identify the bot and remove a webhook of an earlier program."""
        found = await self._api.call("getMe", {})
        await self._api.call("deleteWebhook", {"drop_pending_updates": False})
        self.bot = Bot(part(found, "id", int), part(found, "username", str))

    async def poll(self, busy: int, longest_s: int) -> list:
        """Return the Incoming of each new message; `busy` are in work, a poll takes at most `longest_s`."""
        if self.newest and self.newest.age > _FORGOTTEN_S and not self._open:
            self._next = 0
        pause = Timeout()
        pause.begin(_OPEN_POLL_MS)
        while self._open and not pause.is_over:
            await sleep_ms(_LOOK_MS)
        room = AT_ONCE - busy
        if room <= 0:
            await sleep_ms(_STEP_MS)
            return []
        wait_s = 0 if self._open or self.problem else longest_s
        offset = self._open[0] if self._open else self._next
        updates = await self._api.updates(offset, room + len(self._open), wait_s)
        self._connected()
        return [message for message in map(self._message, updates) if message]

    def _message(self, update) -> "Incoming | None":
        """Return the message of an update; None if it is no message or a repeated one."""
        number = part(update, "update_id", int)
        if number < max(1, self._next):
            return None
        self._next = number + 1
        self.newest = Moment(self._clock)
        moved = moved_group(update)
        if moved:
            self._on_moved(*moved)
        try:
            said = Incoming(update, self.bot)
        except Ignored as why:
            diag.info(NAME, "an update is ignored: %s" % why)
            return None
        if said.album and said.album == self._album and not said.words:
            return None  # an album's first message represents those without words
        self._album = said.album or self._album
        self._open.append(number)
        return said

    def confirm(self, said: Incoming) -> None:
        """Confirm a message that is on flash or answered."""
        self._open = [number for number in self._open if number != said.update]

    def reopen(self) -> None:
        """Request the open messages again."""
        if self._open:
            self._next = self._open[0]
            self._open.clear()
            self._album = ""

    # --- connected or not

    def _connected(self) -> None:
        self._backoff.reset()
        if self.problem:
            diag.info(NAME, "connected as @" + self.bot.username)
            self.since = Moment(self._clock)
            self.problem = ""

    def failed(self, error: BotError) -> int:
        """Note a failed call; return the ms until the next try."""
        problem, pause_ms = str(error), self._backoff.next_ms()
        if error.code in (401, 404):
            self.is_stopped = True
            problem = _NO_BOT
            diag.error(NAME, problem)
        elif error.code == 409:
            problem, pause_ms = _CONFLICT, _CONFLICT_MS
        if not self.problem or not self.since:
            self.since = Moment(self._clock)
        if problem != self.problem and not self.is_stopped:
            diag.warning(NAME, problem)
        self.problem = problem
        return 1000 * error.retry_after or pause_ms
