"""A person's XMPP account for tests, by slixmpp's own plugins: nothing of the bridge."""

import asyncio
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import httpx
from slixmpp import JID, ClientXMPP
from slixmpp.stanza import Message

from bridge_peers import Peer, Shown
from waiting import SECONDS

PLUGINS = ("xep_0030", "xep_0045", "xep_0066", "xep_0085", "xep_0184", "xep_0199", "xep_0308", "xep_0359", "xep_0363")


class XmppPeer(Peer):
    """An account that is in the room, and talks to the bridge's account."""

    def __init__(self, address: str, password: str, port: int, authority: Path, bridge: str, room: str):
        self._context = ssl.create_default_context(cafile=authority)
        self._client = ClientXMPP(f"{address}/phone", password, ssl_context=self._context)
        self._client.enable_direct_tls = False
        for plugin in PLUGINS:
            self._client.register_plugin(plugin)
        self.id = address
        self._nickname = address.partition("@")[0]
        self._port = port
        self._bridge = JID(bridge)
        self._room = JID(room)
        self._shown: dict[bool, list[Shown]] = {False: [], True: []}
        self._typing_signs = 0
        self._client.add_event_handler("message", self._on_message)
        self._client.add_event_handler("chatstate_composing", self._on_composing)

    async def sign_in(self) -> None:
        started = asyncio.Event()
        self._client.add_event_handler("session_start", lambda _: started.set())
        self._client.connect("127.0.0.1", self._port)
        async with asyncio.timeout(SECONDS):
            await started.wait()
        await self._client.get_roster()
        self._client.send_presence()
        await self._muc.join_muc_wait(self._room, self.name, maxstanzas=0, timeout=SECONDS)

    @property
    def _muc(self) -> Any:
        return cast(Any, self._client.plugin["xep_0045"])

    @property
    def name(self) -> str:
        """The account's nickname in the room."""
        return self._nickname

    async def say(self, text: str, *, group: bool = False, mention: bool = False, thread: str = "") -> str:
        message = self.message(f"engram: {text}" if mention else text, group=group)
        message.send()
        return message["id"]

    def message(self, text: str, *, group: bool = False) -> Message:
        """A message that is not sent yet."""
        to, kind = (self._room, "groupchat") if group else (self._bridge, "chat")
        message = self._client.make_message(to, text, mtype=kind)
        message["origin_id"]["id"] = message["id"]
        return message

    async def send_photo(self, caption: str) -> str:
        message = self.message(f"{caption}\nhttps://files.engram.test/a1/cat.jpg")
        message["oob"]["url"] = "https://files.engram.test/a1/cat.jpg"
        message.send()
        return message["id"]

    async def send_file(self, name: str, data: bytes) -> str:
        """Store a file at the server, as clients do (XEP-0363), and send its address."""
        upload = cast(Any, self._client.plugin["xep_0363"])
        service = JID(f"files.{self._bridge.domain}")
        slot = await upload.request_slot(service, name, len(data), "application/octet-stream", timeout=SECONDS)
        put, get = slot["http_upload_slot"]["put"]["url"], slot["http_upload_slot"]["get"]["url"]
        async with httpx.AsyncClient(verify=self._context, timeout=SECONDS) as client:
            headers = {each["name"]: each["value"] for each in slot["http_upload_slot"]["put"]["headers"]}
            (await client.put(put, content=data, headers=headers)).raise_for_status()
        message = self.message(get)
        message["oob"]["url"] = get
        message.send()
        return message["id"]

    async def rename(self, nickname: str) -> None:
        """Take another nickname in the room."""
        self._nickname = await self._muc.set_self_nick(self._room, nickname)

    def shown(self, *, group: bool = False) -> Sequence[Shown]:
        return tuple(self._shown[group])

    def typing_signs(self) -> int:
        return self._typing_signs

    async def close(self) -> None:
        lost = asyncio.Event()
        self._client.add_event_handler("disconnected", lambda _: lost.set())
        if self._client.transport is not None:
            self._client.abort()
            async with asyncio.timeout(SECONDS):
                await lost.wait()
        filters = self._client._run_out_filters
        assert filters is not None
        filters.cancel()
        await asyncio.gather(filters, return_exceptions=True)
        for name in list(self._client.scheduled_events):
            self._client.cancel_schedule(name)

    def _on_composing(self, _: Message) -> None:
        self._typing_signs += 1

    def _on_message(self, stanza: Message) -> None:
        is_group = stanza["type"] == "groupchat"
        sender = stanza["from"].resource if is_group else stanza["from"].bare
        if is_group and sender == self.name:
            return
        shown = self._shown[is_group]
        replaced = stanza["replace"]["id"] if stanza.get_plugin("replace", check=True) else ""
        for number, former in enumerate(shown):
            if replaced and (former.id, former.sender) == (replaced, sender):
                shown[number] = Shown(former.id, sender, stanza["body"], former.edits + 1)
                return
        shown.append(Shown(stanza["id"], sender, stanza["body"]))
