"""Discord for tests of bridges: the strict fake, with a guild's channel that all people are in."""

from collections.abc import Mapping

from discord_fake import TOKEN, FakeDiscord
from discord_peer import DiscordPeer
from discord_records import Channel, User


class DiscordServer(FakeDiscord):
    """Implements bridge_peers.Server."""

    def __init__(self) -> None:
        super().__init__()
        self._threads: dict[str, Channel] = {}

    @property
    def settings(self) -> Mapping[str, str]:
        return {"token": TOKEN, "url": self.url}

    def thread_named(self, name: str) -> Channel:
        """A thread of the channel, made when it is first asked for."""
        if name not in self._threads:
            thread = self._threads[name] = Channel(name, self.guild_id, parent=self.house)
            self.channels[thread.id] = thread
            self.gateway.dispatch("THREAD_CREATE", {**thread.as_json(self.bot), "newly_created": True})
        return self._threads[name]

    @property
    def account_id(self) -> str:
        """The id of the bridge's account."""
        return str(self.bot.id)

    def refuse_token(self) -> None:
        """Know the bridge's token no more."""
        self.is_token_refused = True

    def forget_files(self) -> None:
        """Lose the files that people have sent."""
        self.files.clear()

    async def peer(self, name: str) -> DiscordPeer:
        def add() -> DiscordPeer:
            user = User(name)
            self.users[user.id] = user
            direct = Channel(recipient=user)
            self.channels[direct.id] = direct
            return DiscordPeer(self, user, direct)

        return await self.do(add)
