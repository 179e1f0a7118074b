"""A person with Discord's app, played through the fake."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bridge_peers import Peer, Shown
from discord_records import Channel, Json, Message, User, snowflake, timestamp
from media_samples import PHOTO

if TYPE_CHECKING:
    from discord_fake import DiscordServer


class DiscordPeer(Peer):
    """A thread is one of the guild's channel, by its name."""

    def __init__(self, server: "DiscordServer", user: User, direct: Channel):
        self._server = server
        self.user = user
        self.id = str(user.id)
        self.direct = direct

    def _place(self, group: bool, thread: str) -> Channel:
        return self._server.thread_named(thread) if thread else self._server.house if group else self.direct

    async def say(self, text: str, *, group: bool = False, mention: bool = False, thread: str = "") -> str:
        text = f"<@{self._server.bot.id}> {text}" if mention else text
        return await self._write(text, group=group, thread=thread)

    async def reply(self, text: str, message: str) -> str:
        """Reply, in the guild's channel, to a message of an id."""
        return await self._write(text, group=True, reply_to=int(message))

    def be_bot(self) -> None:
        """Be another bot."""
        self.user.is_bot = True

    async def forward(self, message: Message, comment: str = "", *, group: bool = False) -> str:
        """Forward a message."""

        def write() -> str:
            return str(
                self._server.add_message(Message(self._place(group, ""), self.user, comment, forwards=message)).id
            )

        return await self._server.do(write)

    async def edit(self, message: str, text: str, *, is_preview: bool = False) -> None:
        """Edit a private message, or let Discord add a preview of a link to it."""

        def change() -> None:
            said = self.direct.messages[int(message)]
            said.content = text
            said.edited_at = None if is_preview else timestamp(snowflake())
            self._server.gateway.dispatch("MESSAGE_UPDATE", self._server.message_event(said))

        await self._server.do(change)

    async def _write(
        self, text: str, *, group: bool, thread: str = "", reply_to: int = 0, files: Sequence[Json] = ()
    ) -> str:
        def write() -> str:
            place = self._place(group, thread)
            replied = place.messages[reply_to] if reply_to else None
            message = Message(place, self.user, text, replied, attachments=list(files))
            return str(self._server.add_message(message).id)

        return await self._server.do(write)

    async def send_photo(self, caption: str) -> str:
        number = snowflake()
        path = f"/attachments/{number}/photo.png"
        self._server.files[path] = PHOTO
        address = f"http://{self._server.address}{path}"
        about = {"id": str(number), "filename": "photo.png", "size": len(PHOTO), "content_type": "image/png"}
        return await self._write(caption, group=False, files=[{**about, "url": address, "proxy_url": address}])

    async def send_file(self, name: str, data: bytes) -> str:
        number = snowflake()
        path = f"/attachments/{number}/{name}"
        self._server.files[path] = data
        address = f"http://{self._server.address}{path}"
        about: Json = {"id": str(number), "filename": name, "size": len(data), "content_type": "text/plain"}
        return await self._write("", group=False, files=[{**about, "url": address, "proxy_url": address}])

    def shown(self, *, group: bool = False) -> Sequence[Shown]:
        places = [self.direct]
        if group:
            places = [self._server.house, *(one for one in self._server.channels.values() if one.parent)]
        messages = [message for place in places for message in list(place.messages.values())]
        return [
            Shown(str(one.id), one.author.name, one.content, one.edits, one.channel.name if one.channel.parent else "")
            for one in sorted(messages, key=lambda one: one.id)
            if one.author is not self.user
        ]

    def typing_signs(self) -> int:
        return self._server.typing.count(self.direct.id)
