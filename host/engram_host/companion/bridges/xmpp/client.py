"""slixmpp's client that confirms saved messages, tracks sent ones and closes completely.

A message is confirmed (XEP-0198) once the engine has it, not once it is read, so that the server
keeps it until then.
"""

import asyncio
import contextlib
import logging
import ssl
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from slixmpp import JID
from slixmpp.clientxmpp import ClientXMPP
from slixmpp.plugins.xep_0198 import XEP_0198
from slixmpp.plugins.xep_0198.stanza import RequestAck
from slixmpp.stanza import Message
from slixmpp.xmlstream.handler import Callback
from slixmpp.xmlstream.matcher import MatchXPath, StanzaPath
from slixmpp.xmlstream.stanzabase import StanzaBase

from engram_host.companion.bridges.connections import run_until_one_ends
from engram_host.companion.bridges.errors import (
    BridgeUnavailable,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.xmpp.stanzas import FORWARDED, Room

CONNECT_SECONDS = 30.0
CONFIRM_SECONDS = 30.0
CLOSE_SECONDS = 1.0
MOST_WAITING = 200  # messages queued for the engine before reading stops
WAIT_WHEN_BUSY = 30.0  # pause for a busy server, since XMPP names none

# The library logs every broken connection, and at debug level the password.
logging.getLogger("slixmpp").setLevel(logging.CRITICAL + 1)


@dataclass(eq=False)
class Arrived:
    """A message stanza, its stream number, and its room at that time."""

    stanza: Message
    number: int
    room: Room | None


class XmppClient(ClientXMPP):
    """Connection of one account; it tries direct TLS unless the port is STARTTLS's."""

    def __init__(
        self,
        address: str,
        password: str,
        context: ssl.SSLContext,
        server: tuple[str, int] | None,
        room_of: Callable[[str], Room | None],
    ):
        super().__init__(address, password, ssl_context=context)
        self._server = server
        self._room_of = room_of
        if server and server[1] == 5222:
            self.enable_direct_tls = False
        self.roster.auto_authorize = True
        self.roster.auto_subscribe = True
        for plugin in ("xep_0030", "xep_0045", "xep_0198", "xep_0199"):
            self.register_plugin(plugin)
        identities = cast(Any, self.plugin["xep_0030"])
        identities.add_identity(category="client", itype="bot", name="Engram")
        for feature in ("urn:xmpp:message-correct:0", "http://jabber.org/protocol/chatstates"):
            identities.add_feature(feature)
        self._acks = cast(XEP_0198, self.plugin["xep_0198"])
        # Without it the server keeps unconfirmed messages for the next connection at once.
        self._acks.allow_resume = False
        self._acks.send_ack = self._confirm
        self._arrived: deque[Arrived] = deque()
        self._unkept: deque[Arrived] = deque()
        self._has_arrived = asyncio.Event()
        self._started = asyncio.Event()
        self._cut = asyncio.Event()
        self._is_up = False
        self._reason = ""
        self._problem: Exception | None = None
        self._outcomes: dict[str, asyncio.Future[None]] = {}
        self._written: set[str] = set()
        self._listen()
        self.add_filter("out_sync", self._note_written)

    # --- the connection

    async def sign_in(self) -> None:
        """Connect and sign in; raise SignInRefused, BridgeUnavailable or NetworkAway."""
        host, port = self._server or (None, None)
        self.connect(host, port)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                await run_until_one_ends(self._started.wait(), self._cut.wait())
        if self._problem is not None:
            raise self._problem
        if not self._is_up:
            raise NetworkAway(f"{self.default_domain} cannot be reached: {self._reason or 'it does not answer.'}")

    @property
    def is_up(self) -> bool:
        return self._is_up

    async def wait_for_cut(self) -> None:
        """Wait for the end of the connection, and raise its reason."""
        await self._cut.wait()
        raise self._problem or NetworkAway(f"the connection to {self.boundjid.host} has ended: {self._reason}")

    def reschedule_connection_attempt(self) -> None:
        self._current_connection_attempt = None
        self._cut.set()

    def exception(self, exception: Exception) -> None:
        self.fail(exception)

    def fail(self, problem: Exception) -> None:
        self._problem = self._problem or problem
        self._cut.set()

    async def end(self) -> None:
        try:
            if self.transport is not None and not self._cut.is_set():
                self._confirm()
                self.send_raw(self.stream_footer)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await self._cut.wait()
        finally:
            self._end_at_once()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task() and self._owns(task)]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _end_at_once(self) -> None:
        self.cancel_connection_attempt()
        if self.transport is not None:
            self.transport.abort()
        if self._run_out_filters is not None:
            self._run_out_filters.cancel()
        for name in list(self.scheduled_events):
            self.cancel_schedule(name)
        for outcome in self._outcomes.values():
            if not outcome.done():
                outcome.set_exception(SendUncertain("the connection ended before the server confirmed the message."))

    def _owns(self, task: asyncio.Task[Any]) -> bool:
        """True if slixmpp started a task for this client; it keeps no list of its tasks."""
        frame = getattr(task.get_coro(), "cr_frame", None)
        if frame is None or not frame.f_globals.get("__name__", "").startswith("slixmpp."):
            return False
        names = frame.f_locals
        owners = [
            names.get("self"),
            getattr(names.get("pointer"), "__self__", None),
            getattr(names.get("cb"), "__self__", None),
        ]
        return any(owner is self or getattr(owner, "xmpp", None) is self for owner in owners)

    def _listen(self) -> None:
        self.add_event_handler("session_start", self._on_started)
        # slixmpp expects an element in a room's refusal that prosody leaves out.
        refusal = Callback("Refused presence", StanzaPath("presence@type=error"), self._on_presence_error)
        self.register_handler(refusal)
        self.add_event_handler("disconnected", self._on_disconnected)
        self.add_event_handler("connection_failed", self._on_connection_failed)
        self.add_event_handler("ssl_invalid_chain", self._on_connection_failed)
        self.add_event_handler("failed_auth", self._on_failed_auth)
        self.add_event_handler("failed_all_auth", self._on_no_method)
        self.add_event_handler("stream_error", self._on_stream_error)
        self.add_event_handler("message", self._on_message)
        self.register_handler(
            Callback("Forwarded", MatchXPath(f"{{jabber:client}}message/{FORWARDED}"), self._on_forwarded)
        )
        self.add_event_handler("message_error", self._on_error)
        self.add_event_handler("stanza_acked", self._on_acked)

    def _on_started(self, _: object) -> None:
        self._is_up = True
        self._started.set()

    def _on_presence_error(self, presence: StanzaBase) -> None:
        self.event(f"muc::{presence['from'].bare}::presence-error", presence)

    def _on_disconnected(self, reason: object) -> None:
        self._reason = self._reason or (f"{reason}." if reason else "the connection broke.")
        self._is_up = False
        for key in self._outcomes.keys() - self._written:
            self._settle(key, SendFailed("the connection broke before the message was sent."))
        self._cut.set()

    def _note_written(self, stanza: StanzaBase) -> StanzaBase:
        if isinstance(stanza, Message) and stanza["id"] in self._outcomes:
            self._written.add(stanza["id"])
        return stanza

    def _on_connection_failed(self, problem: object) -> None:
        if isinstance(problem, ssl.SSLCertVerificationError):
            self.fail(
                NetworkAway(f"the certificate of {self.default_domain} cannot be trusted: {problem.verify_message}.")
            )
        else:
            self._reason = f"{getattr(problem, 'strerror', None) or problem}."

    def _on_failed_auth(self, failure: Any) -> None:
        if failure["condition"] == "temporary-auth-failure":
            self.fail(NetworkAway(f"{self.default_domain} cannot check passwords now."))
        elif failure["condition"] not in ("invalid-mechanism", "mechanism-too-weak"):
            self.fail(
                SignInRefused(f"{self.default_domain} does not know {self.requested_jid.bare} with this password.")
            )

    def _on_no_method(self, _: object) -> None:
        if "starttls" not in self.features and self.socket is not None and not isinstance(self.socket, ssl.SSLObject):
            self.fail(
                BridgeUnavailable(f"{self.default_domain} offers no TLS, without which the password is not sent.")
            )
        self.fail(SignInRefused(f"{self.default_domain} takes no kind of password that this bridge can send."))

    def _on_stream_error(self, error: Any) -> None:
        if error["condition"] == "conflict":
            self.fail(NetworkAway("another companion has signed in with this account: give each one of its own."))
        self._reason = f"the server says: {error['condition']}."

    # --- incoming messages

    def _on_message(self, stanza: Message) -> None:
        if stanza["body"]:
            self._take(stanza)

    def _on_forwarded(self, stanza: Any) -> None:
        if not stanza["body"]:  # of such the library raises no event
            self._take(stanza)

    def _take(self, stanza: Message) -> None:
        room = self._room_of(stanza["from"].bare)
        seen = room.as_seen_from(stanza["from"].resource) if room else None
        arrived = Arrived(stanza, self._acks.handled, seen)
        self._arrived.append(arrived)
        self._unkept.append(arrived)
        self._has_arrived.set()
        if len(self._arrived) >= MOST_WAITING and self.transport is not None:
            self.transport.pause_reading()

    async def next_message(self) -> Arrived:
        while not self._arrived:
            self._has_arrived.clear()
            await self._has_arrived.wait()
        if self.transport is not None and len(self._arrived) < MOST_WAITING:
            self.transport.resume_reading()
        return self._arrived.popleft()

    def kept(self, arrived: Arrived) -> None:
        """Confirm a message to the server, together with all before it."""
        assert self._unkept.popleft() is arrived
        self._confirm()

    def _confirmed(self) -> int:
        return self._unkept[0].number - 1 if self._unkept else self._acks.handled

    def _confirm(self) -> None:
        if self.transport is not None and self._acks.enabled_in:
            self.send_raw(f"<a xmlns='urn:xmpp:sm:3' h='{self._confirmed()}'/>")

    # --- outgoing messages

    async def deliver(self, message: Message) -> None:
        """Send a message and wait for the server's or room's confirmation; may raise SendFailed."""
        if not self._is_up:
            raise SendFailed("XMPP is not connected now.")
        key = message["id"]
        outcome = self._outcomes[key] = asyncio.get_running_loop().create_future()
        try:
            self.send(message)
            if self._acks.enabled_out:
                self.send(RequestAck(self))
            elif message["type"] != "groupchat":
                return
            async with asyncio.timeout(CONFIRM_SECONDS):
                await outcome
        except TimeoutError:
            raise SendUncertain("the server has not confirmed the message.") from None
        finally:
            del self._outcomes[key]
            self._written.discard(key)

    def reflected(self, key: str) -> None:
        self._settle(key, None)

    def _on_acked(self, stanza: object) -> None:
        # A room refuses a message after the server's confirmation; its broadcast confirms it.
        if isinstance(stanza, Message) and stanza["type"] != "groupchat":
            self._settle(stanza["id"], None)

    def _on_error(self, stanza: Message) -> None:
        error = stanza["error"]
        words = f"{JID(stanza['from']).bare} refuses the message: {error['text'] or error['condition']}"
        self._settle(stanza["id"], SlowDown(WAIT_WHEN_BUSY) if error["type"] == "wait" else SendRefused(words))

    def _settle(self, key: str, problem: SendFailed | None) -> None:
        outcome = self._outcomes.get(key)
        if outcome is None or outcome.done():
            return
        if problem is None:
            outcome.set_result(None)
        else:
            outcome.set_exception(problem)
