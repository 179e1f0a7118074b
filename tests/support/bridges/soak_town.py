"""Twenty people on six networks at once, whose bridges belong to one companion with three boards: what they say, and what they
see of it.
"""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge_peers import Peer, Server, Shown
from chat_networks import NETWORKS
from engram_host.companion.bridge_types import PairingRequest
from engram_host.companion.conversations.display import AGAIN, BEGINS_AGAIN
from engram_host.companion.store import open_store
from matrix_peer import BRIDGE as MATRIX_BRIDGE
from matrix_peer import MatrixPeer
from waiting import wait_until_async

PEOPLE = tuple(f"person{number:02}" for number in range(20))
BOARDS = ("garden", "kitchen", "office")
ON_TWO = {"person00": "telegram", "person01": "slack"}
"""Who is on a second network, too."""

PARTS = ("First", "Last")
ANSWER = [f"{PARTS[0]} of {{last}}.\n\n", {"text": f"{PARTS[1]} of {{last}}.", "delay": 0.1}]
"""The reply of the model; in a group {last} has the person's name before."""

MOST_OPEN = 2
"""Messages of one account that are not answered yet: people wait for answers."""

_TOKEN = re.compile(r"\bw\d{4}\b")
_MARKS = (AGAIN.strip(), BEGINS_AGAIN.strip())


@dataclass(frozen=True)
class SaidMessage:
    """What somebody said: a word that nobody else says, by whom, where, to which board."""

    token: str
    network: str
    person: str
    is_group: bool
    board: str

    @property
    def chat(self) -> tuple[str, str]:
        """The chat: a group has no person."""
        return self.network, "" if self.is_group else self.person


@dataclass
class Account:
    """A person's account on a network."""

    network: str
    person: str
    peer: Peer
    open: set[str] = field(default_factory=set)


def tokens(text: str) -> set[str]:
    """The words of messages in a text."""
    return set(_TOKEN.findall(text))


class Town:
    """The people, what they said, and what they see."""

    def __init__(self, servers: Mapping[str, Server]):
        self.servers = servers
        self.accounts: list[Account] = []
        self.said: list[SaidMessage] = []
        self.most = 0
        """How many messages may be said for now."""
        self.may_speak = {name: asyncio.Event() for name in servers}
        """People of a network wait while it cannot take what they say."""
        for event in self.may_speak.values():
            event.set()

    # --- accounts

    async def sign_in(self) -> None:
        """Let all people sign in."""
        names = list(NETWORKS)
        places = [(names[number % len(names)], person) for number, person in enumerate(PEOPLE)]
        places += [(network, person) for person, network in ON_TWO.items()]
        for network, person in places:
            self.accounts.append(Account(network, person, await self.servers[network].peer(person)))

    def of(self, network: str) -> list[Account]:
        """The accounts on a network."""
        return [account for account in self.accounts if account.network == network]

    def approve_all(self, home: Path) -> None:
        """Write into a companion's database who was approved, and in which groups boards answer."""
        store = open_store(f"sqlite:///{home}/companion.db")
        now = int(time.time())
        try:
            known: set[str] = set()
            for account in self.accounts:
                ref = f"{account.network}:{account.peer.id}"
                if account.person in known:
                    store.people.link_person(account.person, ref, now)
                else:
                    store.people.add_code(PairingRequest(f"{account.person.upper()}"[-8:], ref, account.person, now))
                    store.people.approve_person(ref, account.person, now)
                    known.add(account.person)
            for name, network in NETWORKS.items():
                group = network.group_of(self.servers[name], self.of(name)[0].peer)
                store.people.set_group(f"{name}:{group}", "mention")
        finally:
            store.close()

    async def wait_until_joined(self) -> None:
        """Wait until the bridge to Matrix is in all rooms: what was said before is not answered."""
        for account in self.of("matrix"):
            peer = account.peer
            assert isinstance(peer, MatrixPeer)
            for room in (peer.room, peer.group):
                async with asyncio.timeout(60):
                    while MATRIX_BRIDGE not in await peer.members(room):
                        await asyncio.sleep(0.1)

    async def sign_in_again(self, network: str) -> None:
        """Let the people of a network whose server was killed sign in again."""
        if NETWORKS[network].is_fake or network == "matrix":
            return  # apps connect by themselves
        for account in self.of(network):
            former: Any = account.peer
            await former.close()
            peer: Any = await self.servers[network].peer(account.person)
            peer.remember(former)
            account.peer = peer

    async def close(self) -> None:
        for account in self.accounts:
            await account.peer.close()

    # --- talking

    async def talk(self, account: Account, messages: Iterator[tuple[str, bool, str]]) -> None:
        """Say one message after the other, (token, is_group, board), as long as there are any."""
        for token, is_group, board in messages:
            account.open.add(token)
            may_speak = self.may_speak[account.network]
            while not may_speak.is_set() or len(self.said) >= self.most:
                await may_speak.wait()  # it may be over again by the time that this goes on
                await wait_until_async("more may be said", lambda: len(self.said) < self.most, 600)
            self.said.append(SaidMessage(token, account.network, account.person, is_group, board))
            await account.peer.say(f"@{board} {token}", group=is_group, mention=is_group)
            await wait_until_async(
                lambda: f"{account.person} waits for {account.open} on {account.network}",
                lambda: len(account.open) < MOST_OPEN,
                300,
            )

    async def look(self) -> None:
        """See what is answered, again and again."""
        while True:
            self.note_answers()
            await asyncio.sleep(0.25)

    def note_answers(self) -> None:
        """See what is answered now."""
        for account in self.accounts:
            if account.open:
                for is_group in (False, True):
                    ends = [shown.text for shown in account.peer.shown(group=is_group) if PARTS[1] in shown.text]
                    account.open -= tokens("\n".join(ends))

    # --- what is seen

    def seen(self) -> dict[tuple[str, str], list[Shown]]:
        """What boards said in each chat, as people see it in the end; in a group as one of them sees it."""
        found: dict[tuple[str, str], list[Shown]] = {}
        for account in self.accounts:
            for chat, is_group in (((account.network, account.person), False), ((account.network, ""), True)):
                people = {each.person for each in self.of(account.network)}
                shown = [each for each in account.peer.shown(group=is_group) if each.sender not in people]
                found.setdefault(chat, shown)
        return found


@dataclass
class Count:
    """What became of all messages; each set has their words. `marked`: shown with a mark that it may be shown twice."""

    said: int = 0
    lost: set[str] = field(default_factory=set)
    doubled: set[str] = field(default_factory=set)
    marked: set[str] = field(default_factory=set)
    crossed: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        sizes = {name: len(words) for name, words in vars(self).items() if name != "said"}
        return f"{self.said} messages, {', '.join(f'{name} {size}' for name, size in sizes.items())}"


def count_answers(said: list[SaidMessage], seen: Mapping[tuple[str, str], list[Shown]]) -> Count:
    """Count what chats show: each part of each answer once in its chat, more often only with a mark, nowhere else."""
    count = Count(len(said))
    parts = Counter(part for chat, messages in seen.items() for part in _parts(chat, messages))
    where = {(token, chat) for chat, token, _, _ in parts}
    for message in said:
        for part in PARTS:
            plain, marked = (parts[message.chat, message.token, part, is_marked] for is_marked in (False, True))
            for words, is_so in ((count.lost, not plain + marked), (count.doubled, plain > 1), (count.marked, marked)):
                words |= {message.token} if is_so else set()
    chats = {message.token: message.chat for message in said}
    count.crossed |= {token for token, chat in where if chats.get(token) != chat}
    return count


def _parts(chat: tuple[str, str], messages: list[Shown]) -> Iterator[tuple[tuple[str, str], str, str, bool]]:
    """(chat, word, part, is_marked) of each part of an answer that a chat shows. On IRC a mark is in one line, and counts for
    the lines below it that have the same word.
    """
    is_marked, marked = False, ""
    for message in messages:
        is_marked = is_marked or any(mark in message.text for mark in _MARKS)
        for part, token in re.findall(rf"({'|'.join(PARTS)}) of (?:\S+: )?(w\d{{4}})\.", message.text):
            marked = token if is_marked or token == marked else ""
            is_marked = False
            yield chat, token, part, bool(marked)


def texts_with(words: set[str], seen: Mapping[tuple[str, str], list[Shown]]) -> list[str]:
    """What chats show that has any of some words."""
    return [f"{chat}: {each.text}" for chat, shown in seen.items() for each in shown if tokens(each.text) & words]


def check_journals(said: list[SaidMessage], journals: Mapping[str, list[dict[str, Any]]]) -> list[str]:
    """What is wrong with what boards were given: each message once, at its board, by who said it, in its chat's room."""
    wrong: list[str] = []
    by_token = {message.token: message for message in said}
    given: dict[str, int] = {}
    rooms: dict[tuple[str, str, str], set[str]] = {}
    for board, lines in journals.items():
        room_of = {line["sid"]: line["room"] for line in lines if line.get("op") == "current"}
        for line in lines:
            if line.get("role") != "user":
                continue
            (token,) = tokens(line["text"]) or {line["text"]}
            message = by_token.get(token)
            if message is None:
                wrong.append(f"{board} was given {line['text']!r}, which nobody asked it")
                continue
            given[token] = given.get(token, 0) + 1
            scope = "all" if message.is_group else f"user:{message.person}"
            got = board, line["who"], line["scope"]
            if got != (message.board, message.person, scope):
                wrong.append(f"{token} is {got}, and was said as {message}")
            rooms.setdefault((board, *message.chat), set()).add(room_of.get(line["sid"], ""))
    wrong += [f"{token} was given {given.get(token, 0)} times" for token in by_token if given.get(token, 0) != 1]
    for board in journals:
        own = [(chat, each) for (name, *chat), each in rooms.items() if name == board]
        wrong += [f"{board} has rooms {each} for {chat}" for chat, each in own if len(each) != 1 or "" in each]
        names = [room for _, each in own for room in each]
        wrong += [f"{board} has one room for several chats: {names}"] if len(set(names)) != len(names) else []
        wrong += [f"{chat} is {each}" for chat, each in own if not all(r.startswith(f"link {chat[0]} ") for r in each)]
    return wrong


def check_prompts(said: list[SaidMessage], prompts: list[str]) -> list[str]:
    """What is wrong with what models were shown: in a group nothing private, in private nothing of other people."""
    wrong: list[str] = []
    by_token = {message.token: message for message in said}
    for prompt in prompts:
        asked = _TOKEN.findall(prompt)
        if not asked:
            continue
        message = by_token[asked[-1]]
        for token in set(asked) - {message.token}:
            other = by_token[token]
            if not other.is_group and (message.is_group or other.person != message.person):
                wrong.append(f"{token} ({other.person}, private) was shown with {message}")
    return wrong
