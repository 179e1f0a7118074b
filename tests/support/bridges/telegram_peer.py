"""A person at their phone with Telegram, played through the fake."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bridge_peers import Peer, Shown
from fake_telegram import Chat, User
from media_samples import PHOTO

if TYPE_CHECKING:
    from telegram_server import TelegramServer


class TelegramPeer(Peer):
    """A thread is a topic of the forum, by its name."""

    def __init__(self, server: "TelegramServer", user: User):
        self._server = server
        self.user = user
        self.id = str(user.id)

    async def say(self, text: str, *, group: bool = False, mention: bool = False, thread: str = "") -> str:
        fake = self._server.fake
        text = f"@{fake.state.bot.username} {text}" if mention else text

        def write() -> str:
            topic = self._server.topic(thread) if thread else 0
            chat = self._server.forum if group else None
            return str(fake.people.write(self.user, text, chat=chat, thread_id=topic).id)

        return await self._server.thread.do(write)

    async def reply(self, text: str, message: str) -> str:
        """Reply, in the forum, to a message of an id."""

        def write() -> str:
            forum = self._server.forum
            replied = forum.messages[int(message)]
            return str(self._server.fake.people.write(self.user, text, chat=forum, reply_to=replied).id)

        return await self._server.thread.do(write)

    async def send_photo(self, caption: str) -> str:
        def send() -> str:
            return str(self._server.fake.people.send_photo(self.user, PHOTO, caption=caption).id)

        return await self._server.thread.do(send)

    async def send_file(self, name: str, data: bytes) -> str:
        def send() -> str:
            return str(self._server.fake.people.send_document(self.user, name, data).id)

        return await self._server.thread.do(send)

    def _chat(self, group: bool) -> Chat:
        return self._server.forum if group else self._server.fake.people.private_chat(self.user)

    def shown(self, *, group: bool = False) -> Sequence[Shown]:
        return self._server.thread.call(lambda: self._shown(group))

    def _shown(self, group: bool) -> list[Shown]:
        people = self._server.fake.people
        return [
            Shown(
                str(message.id),
                message.sender.username,
                message.text,
                len(message.edits),
                self._server.topic_name(message.thread_id),
            )
            for message in people.messages(self._chat(group))
            if message.sender is not self.user and not message.is_service
        ]

    def typing_signs(self) -> int:
        calls = self._server.fake.ledger.of_method("sendChatAction")
        return sum(call.status == 200 and call.arguments.get("chat_id") == self.user.id for call in calls)
