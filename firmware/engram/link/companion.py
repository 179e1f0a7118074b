"""The board's side of a companion: one link at a time, for copies of logs and searches."""

import random

from engram import diag
from engram.clock import Backoff, Moment, Timeout
from engram.compat import sleep_ms
from engram.errors import ConfigError, EngramError, NetError, Refused
from engram.interrupt import start_task, stop_task
from engram.link.copies import NoteCopy, SenseCopy
from engram.link.inbound_messages import InboundMessages
from engram.link.remote_search import RemoteSearch
from engram.link.replication import Replication
from engram.link.rpc import NoAnswer, Rpc

_NETWORK_MS = const(1000)  # between two looks for a network
_STATUS_MS = const(600_000)  # between two reports of the status
_SILENCE = const("the companion does not answer; is `engram serve` running, and does it use the same broker?")
_AWAY = const("the companion is not connected")
_NAME_LONGEST = const(32)
_NAME = const("abcdefghijklmnopqrstuvwxyz0123456789-")


class Companion:
    """A board's link to its companion; ConfigError. Unwanted parts are None."""

    def __init__(
        self,
        config,
        clock,
        logs,
        link_state,
        *,
        is_busy,
        notes,
        retention,
        find_status,
        make_transport,
        network=None,
        archived=None,
        make_archive=None,
        chat=None,
        find_senses=lambda: None,
    ):
        self.url = config.get("companion.url")
        self.logs = logs
        self.link_state = link_state
        self._is_busy = is_busy
        self._network = network
        self._archived = archived
        self.device = config.get("companion.device") or "engram-" + link_state.board[:6]
        if len(self.device) > _NAME_LONGEST or any(letter not in _NAME for letter in self.device):
            raise ConfigError("companion.device", "must have only a to z, 0 to 9 and -.")
        self._exchange = Rpc(link_state.board)
        self._exchange.close(NetError(_AWAY))
        self._exchange.transport = self._transport = make_transport(self.device, self._exchange.receive)
        parts = clock, is_busy, self._greeted, self._idle_work, archived
        self._sync = Replication(self._exchange, logs, link_state, *parts)
        self._find_status = find_status
        self._run = 1 + random.getrandbits(29)  # a number of this start
        self._started = Moment(clock)
        self._status_pause = Timeout()
        self._notes = NoteCopy(self._sync, notes, retention)
        self._senses = SenseCopy(self._sync, find_senses)
        self.archive = make_archive(self._exchange, self._sync) if make_archive else None
        within_ms = config.get("companion.timeout_ms")
        self.ask = RemoteSearch(self._exchange, self._sync, config.get("companion.search"), within_ms, archived)
        self.inbound = None
        """The InboundMessages of people at the companion, None if nobody may talk."""
        if chat:
            self.inbound = InboundMessages(self._exchange, self._sync, chat, lambda: config.get("companion.chat"))
        self.is_connected = None  # a bool once there was a link
        self._problem = ""
        self._backoff = Backoff()
        self._needs_number = True  # whether the next link has to have a new one

    # --- running

    async def run(self) -> None:
        try:
            while True:
                wait_ms = await self._connect()
                diag.info("companion", self._problem)
                await sleep_ms(wait_ms)
        finally:
            if self.inbound:
                await self.inbound.stop()

    async def _connect(self) -> int:
        """Hold a link until it ends; return the ms until the next try."""
        if self._network and not self._network.wlan.isconnected():
            # To look a name up would block the board until it gives up.
            self._problem = "there is no network"
            return _NETWORK_MS
        try:
            await self._hold()
        except Refused as error:
            self._problem = "refused: " + str(error)
            return max(error.again_s * 1000, self._backoff.next_ms())
        except NoAnswer:
            # It may be that the companion knows of newer links than this one.
            self._needs_number = True
            self._problem = _SILENCE
        except EngramError as error:
            self._problem = str(error)
        return self._backoff.next_ms()

    async def _hold(self) -> None:
        beside = []
        try:
            await self._transport.open()
            if self._needs_number:
                self.link_state.begin()
                self._needs_number = False
            self._exchange.open(self.link_state.link)
            self._status_pause.end()
            beside.append(start_task(self._read))
            if self.inbound:
                beside.append(start_task(self.inbound.run))
            await self._sync.run()
        finally:
            self.is_connected = self.is_connected and False
            if self.archive:
                self.archive.is_greeted = False
            self._exchange.close(NetError(_AWAY))
            for task in beside:
                await stop_task(task)  # before what it reads from is closed
            self._transport.close()

    async def _read(self) -> None:
        try:
            await self._transport.run()
        except NetError as error:
            self._exchange.close(error)
        except MemoryError:
            # Nobody reads any more: what waits for an answer is not to wait in vain.
            self._exchange.close(NetError("not enough memory for what the companion sent"))

    async def _idle_work(self) -> bool:
        """Do a slice besides the logs; True if there was any. During an answer only the archive works."""
        if self.archive and await self.archive.step():
            return True
        if self._is_busy():
            return False
        return await self._report_status() or await self._notes.step() or await self._senses.step()

    async def _report_status(self) -> bool:
        """Send the status if it is due; True if it was. Refused values go next time."""
        if not self._status_pause.is_over:
            return False
        self._status_pause.begin(_STATUS_MS)
        items = [["run", self._run], ["seconds", self._started.age]]
        items.extend([name, value] for name, value in self._find_status().items())
        try:
            await self._sync.ask("status", items=items)
        except Refused as refusal:
            diag.info("companion", "it does not take how the board is: %s" % refusal)
        return True

    def _greeted(self, welcome: dict) -> None:
        if not self.is_connected:
            diag.info("companion", "connected to %s as %s" % (self.url, self.device))
        self.is_connected = True
        self._notes.greeted(welcome["notes"])
        self._senses.greeted(welcome["senses"])
        if self.archive:
            self.archive.greeted(welcome["archived"], welcome["asks"])
        self._problem = ""
        self._backoff.reset()

    # --- status

    def status_lines(self):
        way = "%s as %s" % (self.url, self.device)
        if self.is_connected:
            missing = sum(max(0, raw.store.next_seq - 1 - self._sync.have(name)) for name, raw in self.logs)
            yield "connected to %s%s" % (way, ", lines to send: %d" % missing if missing else "")
        else:
            yield "not connected to %s: %s" % (way, self._problem or "not tried yet")
        if self.archive and self.archive.why:
            yield self.archive.why
        if self._sync.message:
            yield "it said: " + self._sync.message

    def unreachable(self) -> str:
        """Return a remark on an archive that is unreachable or incomplete."""
        lost = self._archived.lost if self._archived and self.archive else 0
        if lost:
            return "; IT HAS LOST %d OF THESE MEMORIES: was its database replaced?" % lost
        return "" if self.is_connected else ", and cannot be reached now"
