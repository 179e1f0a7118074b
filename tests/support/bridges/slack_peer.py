"""A person with Slack's app, played through the fake."""

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bridge_peers import Peer, Shown
from media_samples import PHOTO
from slack_records import Conversation, User

if TYPE_CHECKING:
    from slack_fake import SlackServer


class SlackPeer(Peer):
    """A thread begins with a message in the channel that has its name."""

    def __init__(self, server: "SlackServer", user: User, direct: Conversation):
        self._server = server
        self.user = user
        self.id = user.id
        self.direct = direct

    def _place(self, group: bool) -> Conversation:
        return self._server.house if group else self.direct

    async def say(self, text: str, *, group: bool = False, mention: bool = False, thread: str = "") -> str:
        text = f"<@{self._server.bot.id}> {text}" if mention else text

        def write() -> str:
            root = self._server.thread_named(thread, self.user) if thread else ""
            return self._server.add_message(self._place(group), self.user, text, root).ts

        return await self._server.do(write)

    async def reply(self, text: str, message: str) -> str:
        """Reply, in the channel, to a message of an id."""
        return await self.answer_in_thread(text, message)

    def be_bot(self) -> None:
        """Be another app."""
        self.user.bot_id = "B0OTHER"

    async def answer_in_thread(self, text: str, root: str, *, group: bool = True) -> str:
        """Say something in the thread of a message."""
        return await self._server.do(lambda: self._server.add_message(self._place(group), self.user, text, root).ts)

    async def share(self, comment: str, shared: dict[str, Any], *, group: bool = False) -> str:
        """Share a message, or write one to which Slack adds the preview of a page."""
        return await self._server.do(
            lambda: self._server.add_message(self._place(group), self.user, comment, shared=[shared]).ts
        )

    async def edit(self, message: str, text: str, *, is_preview: bool = False) -> None:
        """Edit a private message, or let Slack add a preview to it."""

        def change() -> None:
            said = self.direct.messages[message]
            said.edits += not is_preview
            self._server.change_message(self.direct, said, text)

        await self._server.do(change)

    async def send_photo(self, caption: str) -> str:
        path = f"/files-pri/T1-{uuid.uuid4().hex}/download/photo.png"
        self._server.files[path] = PHOTO
        about = {"id": "F1", "name": "photo.png", "mimetype": "image/png", "size": len(PHOTO)}
        file = {**about, "url_private_download": f"http://{self._server.address}{path}"}
        return await self._server.do(lambda: self._server.add_message(self.direct, self.user, caption, files=[file]).ts)

    async def send_file(self, name: str, data: bytes) -> str:
        path = f"/files-pri/T1-{uuid.uuid4().hex}/download/{name}"
        self._server.files[path] = data
        about = {"id": f"F{uuid.uuid4().hex}", "name": name, "mimetype": "text/plain", "size": len(data)}
        file = {**about, "url_private_download": f"http://{self._server.address}{path}"}
        return await self._server.do(lambda: self._server.add_message(self.direct, self.user, "", files=[file]).ts)

    def shown(self, *, group: bool = False) -> Sequence[Shown]:
        return [
            Shown(one.ts, one.user.name, one.text, one.edits, self._server.thread_name(one.thread_ts))
            for one in list(self._place(group).messages.values())
            if one.user is not self.user
        ]
