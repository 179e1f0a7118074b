"""Telegram for tests of bridges: the strict fake of the Bot API, with a forum that all people are in."""

from collections import Counter
from collections.abc import Mapping
from functools import partial

from fake_server.threads import LoopThread
from fake_telegram import FakeTelegram
from peers import free_port
from telegram_peer import TelegramPeer


class TelegramServer:
    """Implements bridge_peers.Server. `fake` is used in its own loop only: with call() or join()."""

    def __init__(self) -> None:
        self.thread = LoopThread("telegram")
        # Nobody else takes the port while the service is down.
        self.fake = FakeTelegram(port=free_port(), reads_all_group_messages=True)
        self.thread.run(self._make_forum())
        self._is_up = False
        self._topics: dict[str, int] = {}

    async def _make_forum(self) -> None:
        self._owner = self.fake.people.add_user("Owner")
        self.forum = self.fake.people.supergroup("House", [self._owner], is_forum=True)

    def topic(self, name: str) -> int:
        """The topic of a name, made when it is first asked for; in the fake's loop only."""
        if name not in self._topics:
            self._topics[name] = self.fake.people.topic(self.forum, name, self._owner)
        return self._topics[name]

    def topic_name(self, number: int) -> str:
        return self.forum.topics.get(number, "")

    @property
    def settings(self) -> Mapping[str, str]:
        return {"token": self.fake.token, "url": self.fake.url}

    @property
    def account_id(self) -> str:
        """The id of the bridge's account."""
        return str(self.fake.state.bot.id)

    def refuse_token(self) -> None:
        """Know the bridge's token no more."""
        self.fake.faults.is_token_refused = True

    def forget_files(self) -> None:
        """Lose the files that people have sent."""
        self.fake.state.files.clear()

    @property
    def calls(self) -> Counter[str]:
        """Calls by their method."""
        return self.fake.ledger.by_method

    def fail(self, kind: str, method: str, status: int, retry_after: int) -> None:
        """Let the next call of a method fail in one of the ways of FakeService."""
        faults = self.fake.faults
        add = {"flood": partial(faults.flood, retry_after), "status": partial(faults.fail, status)}
        add.get(kind, faults.cut_after)(method=method)

    def start(self) -> None:
        if not self._is_up:
            self.thread.run(self.fake.start())
            self._is_up = True

    def kill(self) -> None:
        if self._is_up:
            self.thread.run(self.fake.close())
            self._is_up = False

    def stop(self) -> None:
        self.kill()
        self.thread.close()

    async def peer(self, name: str) -> TelegramPeer:
        return TelegramPeer(self, await self.thread.join(self._add(name)))

    async def _add(self, name: str):
        user = self.fake.people.add_user(name.capitalize(), username=name)
        self.fake.people.add_member(self.forum, user)
        return user
