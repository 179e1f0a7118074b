"""A person on Matrix, who speaks the client-server API by hand."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx

from bridge_peers import Peer, Shown
from media_samples import PHOTO
from server_process import PLAIN
from waiting import wait_until_async

BRIDGE = "@kitchen:engram.test"
BRIDGE_NAME = "Kitchen"
_LOOK_MS = 20_000
_PAUSE = 0.05
_TRANSACTIONS = itertools.count()


class MatrixPeer(Peer):
    """A thread is the id of the event that it begins with."""

    def __init__(self, url: str, account: str, token: str, room: str = "", group: str = ""):
        transport = httpx.AsyncHTTPTransport(verify=PLAIN)
        self._http = httpx.AsyncClient(
            base_url=f"{url}/_matrix/client/v3",
            headers={"Authorization": f"Bearer {token}"},
            transport=transport,
            timeout=60,
        )
        self.id = account
        self.group = group
        self.room = room
        self.events: list[dict[str, Any]] = []
        self._shown: dict[str, dict[str, Shown]] = {}
        self._typing: set[str] = set()
        self._typing_signs = 0
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Begin to listen."""
        since = (await self.get("/sync", timeout=0))["next_batch"]
        self._task = asyncio.create_task(self._listen(since))

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._http.aclose()

    # --- requests

    async def get(self, path: str, **parameters: Any) -> dict[str, Any]:
        return (await self._http.get(path, params=parameters)).raise_for_status().json()

    async def post(self, path: str, **body: Any) -> dict[str, Any]:
        return (await self._http.post(path, json=body)).raise_for_status().json()

    async def put(self, path: str, **body: Any) -> dict[str, Any]:
        return (await self._http.put(path, json=body)).raise_for_status().json()

    async def send(self, room: str, content: dict[str, Any], kind: str = "m.room.message") -> str:
        """Send an event into a room; its id."""
        path = f"/rooms/{quote(room)}/send/{kind}/{id(self)}-{next(_TRANSACTIONS)}"
        return (await self.put(path, **content))["event_id"]

    async def make_room(self, *others: str, **options: Any) -> str:
        """A room with the bridge's account invited, as a private chat unless the options say otherwise; its id."""
        body = {"preset": "trusted_private_chat", "is_direct": True, "invite": [BRIDGE, *others]}
        return (await self.post("/createRoom", **body | options))["room_id"]

    async def members(self, room: str) -> set[str]:
        """Who is in a room."""
        return set((await self.get(f"/rooms/{quote(room)}/joined_members"))["joined"])

    # --- as a person

    async def say(self, text: str, *, group: bool = False, mention: bool = False, thread: str = "") -> str:
        content: dict[str, Any] = {"msgtype": "m.text", "body": text, "m.mentions": {}}
        if mention:
            pill = f'<a href="https://matrix.to/#/{BRIDGE}">{BRIDGE_NAME}</a>: {text}'
            content |= {"body": f"{BRIDGE_NAME}: {text}", "m.mentions": {"user_ids": [BRIDGE]}}
            content |= {"format": "org.matrix.custom.html", "formatted_body": pill}
        if thread:
            last = {"event_id": thread}
            content["m.relates_to"] = {"rel_type": "m.thread", **last, "is_falling_back": True, "m.in_reply_to": last}
        return await self.send(self.group if group else self.room, content)

    async def send_photo(self, caption: str) -> str:
        return await self._send_media("m.image", "a.png", PHOTO, caption)

    async def send_file(self, name: str, data: bytes) -> str:
        return await self._send_media("m.file", name, data)

    async def _send_media(self, kind: str, name: str, data: bytes, caption: str = "") -> str:
        stored = await self._http.post("/../../media/v3/upload", content=data, params={"filename": name})
        address = stored.raise_for_status().json()["content_uri"]
        content = {"msgtype": kind, "body": caption or name, "filename": name, "url": address}
        return await self.send(self.room, {**content, "info": {"size": len(data)}})

    def shown(self, *, group: bool = False) -> Sequence[Shown]:
        return [*self._shown.get(self.group if group else self.room, {}).values()]

    def typing_signs(self) -> int:
        return self._typing_signs

    async def wait_until(self, is_so: Callable[[], object]) -> None:
        """Wait until what this account sees is so."""
        await wait_until_async(lambda: f"shown: {str(self._shown)[-2000:]}", is_so)

    # --- listening

    async def _listen(self, since: str) -> None:
        while True:
            try:
                response = await self.get("/sync", timeout=_LOOK_MS, since=since)
            except (httpx.TransportError, httpx.HTTPStatusError):
                await asyncio.sleep(_PAUSE)  # the server was killed
                continue
            since = response["next_batch"]
            for room, info in response.get("rooms", {}).get("join", {}).items():
                for event in info["timeline"]["events"]:
                    self._see(room, event)
                for event in info["ephemeral"]["events"]:
                    if event["type"] == "m.typing":
                        self._see_typing(room, BRIDGE in event["content"]["user_ids"])

    def _see(self, room: str, event: dict[str, Any]) -> None:
        self.events.append(event)
        content = event["content"]
        if event["type"] != "m.room.message" or event["sender"] == self.id:
            return
        messages = self._shown.setdefault(room, {})
        relation = content.get("m.relates_to", {})
        if relation.get("rel_type") == "m.replace":
            old = messages.get(relation["event_id"], Shown(relation["event_id"], event["sender"], ""))
            messages[old.id] = replace(old, text=content["m.new_content"]["body"], edits=old.edits + 1)
        elif "body" in content:
            thread = relation["event_id"] if relation.get("rel_type") == "m.thread" else ""
            messages[event["event_id"]] = Shown(event["event_id"], event["sender"], content["body"], 0, thread)

    def _see_typing(self, room: str, is_typing: bool) -> None:
        if is_typing and room not in self._typing:
            self._typing_signs += 1
        (self._typing.add if is_typing else self._typing.discard)(room)
