"""Receives a bot's updates, and confirms those that the board has: Telegram forgets an update when a later one is asked for.

An update is open until its message is on flash, or answered where nothing is kept of it. While one is open, the offset stays at
the first of them, and what comes again with it is passed over. The number of the newest message before which all are taken is
noted on flash, so that after a power cut an update that comes again is known; what was under way then is in the outbox.
"""

import random

from engram import diag, files, text
from engram.channels.telegram.bot_api import BotError, Unreadable
from engram.channels.telegram.sender import Place
from engram.channels.telegram.updates import (
    Bot,
    Ignored,
    has_words,
    incoming,
    is_of_album,
    joined,
    moved_group,
    part,
    update_id,
)
from engram.clock import Moment
from engram.compat import const, sleep_ms
from engram.errors import StoreError

LONG_POLL_S = 50
"""How long Telegram waits for an update before it answers that there is none."""

AT_ONCE = const(3)
"""Messages that are answered or wait: the board takes four, and one may come from the console."""

_FILE = const("/telegram.json")  # {"bot":99,"update":700000001}: a file of less than 128 bytes costs no erase
_FILE_BYTES = const(200)
_SHORT_POLL_MS = const(5000)
_OPEN_POLL_MS = const(2000)  # while messages wait: others are to get their typing sign, too
_LARGE = const(49152)  # bytes of updates that are read at once
_SMALL = const(8192)  # likewise where the heap is small
_FIRST_PAUSE_MS = const(1000)  # after an error; doubles up to the longest
_LONGEST_PAUSE_MS = const(60_000)
_DOUBLINGS = const(6)
_CONFLICT_MS = const(20_000)  # another program that polls goes on for its own 50 seconds
_ALBUM_MS = const(1000)  # in which the next message of an album comes
_STEP_MS = const(100)
_LOOK_MS = const(20)
_RECENT = const(1000)  # updates: numbers that are further back are new ones
_FORGOTTEN_S = const(6 * 86400)  # after a week without an update Telegram chooses other numbers

_NO_BOT = const("Telegram does not know the bot: set telegram.token (`make setup` asks for it), and restart the board.")
_CONFLICT = const("another program polls this bot: stop it, or give the board a bot of its own")
_WEBHOOK = const("a webhook is set for this bot, so Telegram gives no updates: /telegram unhook removes it")


class Poller:
    """Polls one bot, with long polls and several messages at once if `is_live`.

    on_large(Unreadable) is awaited with a message that cannot be read; on_moved(chat, new) gets a group that became a
    supergroup.
    """

    def __init__(self, api, clock, folder: str, is_live: bool, on_large, on_moved):
        self._api = api
        self._clock = clock
        self._path = folder + _FILE
        self._is_live = is_live
        self._on_large = on_large
        self._on_moved = on_moved
        self._open = []  # (update's number, Place) of messages that are not taken
        self._next = 0  # the number after the newest update
        self._newest = 0  # the newest that was taken
        self._old_mark = self._mark = 0  # the newest up to which all were taken, before the start and now
        self._album = None  # (Incoming, Place) of an album of which more may come
        self._last_album = ("", 0)  # the album, and its chat, that was answered last
        self._may_be_more = False  # whether the last poll gave all that it asked for
        self._pauses = 0
        self._pause_ms = 0
        self._must_wait = False  # whether Telegram said how long
        self._network_changes = 0  # those of which the newest try knew
        self.wants_no_webhook = False
        """Whether a webhook is to be removed before the next poll."""
        self.bot = Bot(0, "")
        self.since = None
        """The Moment since which it is connected, or not."""
        self.newest = None
        """The Moment at which the newest update came."""
        self.problem = "not tried yet"
        """Why it is not connected, "" if it is."""
        self.is_stopped = False
        """Whether it is for good."""

    async def connect(self) -> None:
        """Ask which bot this is."""
        found = await self._api.call("getMe")
        self.bot = Bot(part(found, "id", int), part(found, "username", str))
        try:
            noted = text.loads(files.read(self._path, _FILE_BYTES) or b"{}")
        except (ValueError, StoreError):
            noted = {}
        if part(noted, "bot", int) == self.bot.id:
            self._old_mark = self._mark = self._newest = part(noted, "update", int)

    async def poll(self, count_busy, longest_s: int) -> list:
        """Ask for updates; (Incoming, Place) of each message that came. count_busy() messages are being answered.

        A long poll takes no longer than `longest_s`.
        """
        if self.wants_no_webhook:
            await self._api.call("deleteWebhook", drop_pending_updates=False)
            self.wants_no_webhook = False
        if self.newest and self.newest.age > _FORGOTTEN_S and not self._open:
            self._next = 0
        if self._album:
            if not self._may_be_more:
                await sleep_ms(_ALBUM_MS)
        elif self._open:
            await self._wait_for_taken()
        room = (AT_ONCE - bool(self._album) if self._is_live else 1) - count_busy()
        if room <= 0:
            await sleep_ms(_STEP_MS)
            return []
        was_connected = not self.problem
        wait_s = longest_s if self._is_live and not self._open and was_connected else 0
        offset, most = self._open[0][0] if self._open else self._next, _LARGE if self._is_live else _SMALL
        try:
            updates = await self._api.updates(offset, room + len(self._open), wait_s, most)
        except Unreadable as large:
            await self._pass_over(large)
            updates = []
        self._connected()
        self._may_be_more = len(updates) >= room + len(self._open)
        messages = self._gather([message for message in map(self._message, updates) if message])
        if self._album:
            return messages
        if not messages and not self._is_live and was_connected:
            await sleep_ms(_SHORT_POLL_MS)
        return messages

    def _gather(self, came: list) -> list:
        """What may be answered of the messages that came: those of an album are one, which is held until a poll brings no more
        of it.
        """
        ready = []
        held, self._album = self._album, None
        for said, place in came:
            if held and is_of_album(held[0], said):
                # With the same place: it is confirmed as a whole.
                self._open = [(number, held[1] if each == place else each) for number, each in self._open]
                held = joined(held[0], said), held[1]
            elif said.album and (said.album, said.chat) == self._last_album and not has_words(said):
                self.confirm(place, False)  # too late: the rest of it was answered
            else:
                ready += [held] if held else []
                held = (said, place) if said.album else None
                ready += [] if held else [(said, place)]
        if held and came:
            self._album = held
        elif held:
            ready.append(held)
        for said, _ in ready:
            if said.album:
                self._last_album = (said.album, said.chat)
        return ready

    async def _wait_for_taken(self) -> None:
        """Wait a while for messages to be taken: the next poll then confirms them."""
        pause_ms = _OPEN_POLL_MS
        while pause_ms > 0 and self._open:
            await sleep_ms(_LOOK_MS)
            pause_ms -= _LOOK_MS

    def _message(self, update):
        """(Incoming, Place) of an update; None if it has no message for the board, or came before."""
        number = update_id(update)
        if number < self._next:
            return None
        self._next = number + 1
        self.newest = Moment(self._clock)
        if 0 <= self._old_mark - number < _RECENT:
            diag.info("telegram", "update %d was taken before" % number)
            return None
        moved = moved_group(update)
        if moved:
            self._on_moved(*moved)
        try:
            said = incoming(update, self.bot)
        except Ignored as why:
            diag.info("telegram", "an update is ignored: %s" % why)
            return None
        edit = number if said.is_edit else 0
        place = Place(said.chat, said.topic, said.message_id, said.kind != "private", edit)
        self._open.append((number, place))
        return said, place

    async def _pass_over(self, large: Unreadable) -> None:
        """Go on behind an update that is too large."""
        self._next = max(self._next, large.update_id + 1)
        diag.warning("telegram", "a message that is too large is passed over")
        await self._on_large(large)

    def confirm(self, place: Place, is_kept: bool) -> None:
        """A message needs not come again; `is_kept` tells that it made a line on flash, or was answered."""
        numbers = [number for number, each in self._open if each == place]
        if numbers:
            self._open = [entry for entry in self._open if entry[1] != place]
            if is_kept:
                self._newest = max(self._newest, numbers[-1])
            self._note_taken()

    def reopen(self) -> None:
        """Ask again for what is open: nobody answers it any more."""
        if self._open:
            self._next = self._open[0][0]
            self._open.clear()
            self._album = None

    def _note_taken(self) -> None:
        # An earlier one may still be open, such as one that waits for another in its chat: after a power cut it comes again.
        mark = min(self._newest, self._open[0][0] - 1) if self._open else self._newest
        if mark <= self._mark:
            return
        self._mark = mark
        try:
            files.write(self._path, text.dumps({"bot": self.bot.id, "update": self._mark}))
        except StoreError as error:
            diag.warning("telegram", str(error))  # the journal knows the message, too

    # --- connected or not

    def _connected(self) -> None:
        self._pauses = 0
        if self.problem:
            diag.info("telegram", "connected as @" + self.bot.username)
            self.since = Moment(self._clock)
            self.problem = ""

    def failed(self, error: BotError) -> None:
        """Take in what an error says of the connection."""
        if self.is_stopped:
            return
        problem = str(error)
        pause_ms = min(_FIRST_PAUSE_MS << min(self._pauses, _DOUBLINGS), _LONGEST_PAUSE_MS)
        self._pauses += 1
        if error.code == 401 or error.code == 404:
            self.is_stopped = True
            problem = _NO_BOT
            diag.error("telegram", problem)
        elif error.code == 409:
            problem = _WEBHOOK if error.says("webhook") else _CONFLICT
            pause_ms = _CONFLICT_MS
        elif error.retry_after:
            pause_ms = 1000 * error.retry_after
        if not self.problem or self.problem == "not tried yet":
            self.since = Moment(self._clock)
        if problem != self.problem and not self.is_stopped:
            diag.warning("telegram", problem)
        self.problem = problem
        self._must_wait = bool(error.retry_after)
        half = pause_ms // 2
        self._pause_ms = pause_ms if error.retry_after else half + random.getrandbits(10) * half // 1024

    async def pause(self) -> None:
        """Wait before the next try, until a webhook is to be removed, or until the network has come or the clock is set."""
        while self._pause_ms > 0 and not self.is_stopped:
            await sleep_ms(min(self._pause_ms, _STEP_MS))
            self._pause_ms -= _STEP_MS
            if self.wants_no_webhook and self._pause_ms > _FIRST_PAUSE_MS:
                self._pause_ms = 0
            if self._api.network_changes != self._network_changes and not self._must_wait:
                self._pause_ms = self._pauses = 0
        self._pause_ms = 0
        self._network_changes = self._api.network_changes

    @property
    def next_try_s(self) -> int:
        """In how many seconds it tries again, 0 if it does not wait."""
        return (self._pause_ms + 999) // 1000
