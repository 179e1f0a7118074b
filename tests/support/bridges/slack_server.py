"""Slack for tests of bridges: the strict fake, with a channel that all people are in."""

from collections.abc import Mapping

from slack_fake import APP_TOKEN, TOKEN, Conversation, FakeSlack, User
from slack_peer import SlackPeer


class SlackServer(FakeSlack):
    """Implements bridge_peers.Server."""

    def __init__(self) -> None:
        super().__init__()
        self._threads: dict[str, str] = {}

    @property
    def settings(self) -> Mapping[str, str]:
        return {"token": TOKEN, "app_token": APP_TOKEN, "url": self.url}

    def thread_named(self, name: str, by: User) -> str:
        """The thread of a name: what somebody said in the channel when it was first asked for."""
        if name not in self._threads:
            self._threads[name] = self.add_message(self.house, by, name).ts
        return self._threads[name]

    def thread_name(self, ts: str) -> str:
        return next((name for name, root in self._threads.items() if root == ts), ts)

    @property
    def account_id(self) -> str:
        """The id of the bridge's account."""
        return f"T1 {self.bot.id}"

    def refuse_token(self) -> None:
        """Know the bridge's token no more."""
        self.is_token_refused = True

    def forget_files(self) -> None:
        """Lose the files that people have sent."""
        self.files.clear()

    async def peer(self, name: str) -> SlackPeer:
        def add() -> SlackPeer:
            user = User(f"U{len(self.users):04d}", name)
            self.users[user.id] = user
            direct = Conversation(f"D{len(self.users):04d}", "im", user=user)
            self.conversations[direct.id] = direct
            return SlackPeer(self, user, direct)

        return await self.do(add)
