"""A day on Telegram: four people, their chats with the bot and two groups, with power cuts and a link that fails, by a seed.

account() finds for each message what came of it (telegram_ledger.py); leaks() and journal_problems() look for what somebody saw
who may not.

Ann owns the board, Bob and Cid are approved; Eve is a stranger, and blocked from the second half on. In the forum Club the bot
answers who mentions it, in the group Garden everybody. What somebody tells in private has a code word that nobody else may see.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from random import Random

from chatting import Chatting
from driving import body_of
from engram_host.boards import flash
from fake_llm import RecordedRequest
from fake_telegram import Call, Chat, FakeTelegram, Message, User
from telegram_ledger import END, FILLER, MARK, Ledger, Said

SECONDS = 100.0
"""How long it may take until all is accounted for: the board waits longer with each error."""

BOT = "@engram_fake_bot"
SLOWLY = [{"text": "Heard: {last}\n"}, *({"text": f"Word{number} ", "delay": 0.25} for number in range(9)), END]

_STORE = {"name": "memory_store", "arguments": {"content": "{rest}", "tags": ["locker"]}}
RULES = (
    {"when": {"contains": "remember that ", "result": False}, "calls": [_STORE]},
    {"when": {"contains": "what about "}, "reply": "Heard: {last}\nKnown: {recalled}\n" + END},
    {"when": {"contains": "slowly"}, "reply": SLOWLY},
    {"when": {"contains": "at length"}, "reply": "Heard: {last}\n" + FILLER * 500 + END},
    {"reply": "Heard: {last}\n" + END},
)

CUTS = ("getUpdates", "sendChatAction", "model", "sendMessage", "sent", "idle")
"""Where the power is cut: while the board waits for the answer of a call, once the model is asked, after a message was sent,
while nothing is to be done.
"""
LINK_FAULTS = ("flood", "fail", "cut_before", "cut_within", "cut_after")
METHODS = ("getUpdates", "sendMessage", "sendChatAction", "")

_LOCKER = re.compile(r"Z\d\d\dZ")


class Day:
    """Plays `count` messages; `link_faults` and `cuts` are what happens beside them, each some messages after the other."""

    def __init__(self, talk: Chatting, seed: int, count: int, rate: int):
        self.talk = talk
        self.random = Random(seed)
        self.count = count
        self.rate = rate
        people = talk.telegram.people
        self.ann, self.bob = talk.person("Ann", is_owner=True), talk.person("Bob")
        self.cid, self.eve = talk.person("Cid"), people.add_user("Eve")
        self.everybody = [self.ann, self.bob, self.cid, self.eve]
        self.club = people.supergroup("Club", self.everybody, is_forum=True)
        self.topics = [0, *(people.topic(self.club, name, self.ann) for name in ("Chess", "Go"))]
        self.garden = people.group("Garden", self.everybody)
        talk.command(f"/people group telegram:{self.club.id} mention")
        talk.command(f"/people group telegram:{self.garden.id} always")
        self.said: list[Said] = []
        self.codes: dict[str, Said] = {}
        """Who told which code word, and where."""
        self.seen: defaultdict[str, set[int]] = defaultdict(set)
        """In which chats a code word was shown, or told to the model."""
        self.is_blocked = False
        self.happened: Counter[str] = Counter()

    # --- playing

    def play(self, faults: list[tuple[str, str]], cuts: Sequence[str]) -> None:
        """Play all: faults (kind, method) and cuts are spread over the messages."""
        events: list[tuple[int, Callable[[], None]]] = []
        for number, fault in enumerate(faults):
            events.append((self._spread(number, len(faults)), lambda fault=fault: self._fail(*fault)))
        for number, cut in enumerate(cuts):
            events.append((self._spread(number, len(cuts)), lambda cut=cut: self._cut(cut)))
        for by in (self.ann, self.bob, self.cid):
            self.write(by, "tell")  # an empty memory is searched for no word
        self.settle()
        while len(self.said) < self.count:
            for _, event in [entry for entry in events if entry[0] <= len(self.said)]:
                event()
            events = [entry for entry in events if entry[0] > len(self.said)]
            if not self.is_blocked and len(self.said) >= self.count // 2:
                self._block()
            self.write()
            if self.random.random() < 0.2:
                self._repeat()
            if self.random.random() < 0.4:
                self.settle()
        for _, event in events:
            event()
        self._flood()
        self.talk.telegram.faults.clear()
        self.settle()

    def _spread(self, number: int, among: int) -> int:
        step = self.count / (among + 1)
        return int(step * (number + self.random.uniform(0.6, 1.4)))

    def write(self, by: User | None = None, kind: str = "") -> Said:
        """Let somebody write something."""
        pick = self.random
        by = by or pick.choice(self.everybody)
        chat = self.talk.chat(by) if kind else pick.choice((self.talk.chat(by), self.club, self.garden))
        kinds = ["talk", "talk", "tell", "tell", "ask", "ask", "recall", "forget", "slow", "long", "photo", "file"]
        kind = kind or pick.choice([*kinds, "list", "list", "aside", "aside"] if chat.is_group else kinds)
        if kind == "aside" and chat is not self.club:
            kind = "talk"
        if kind in ("photo", "file") and chat is self.club:
            kind = "list"  # a file has no room for a mention but its caption
        number = len(self.said) + 1
        mark = f"q{number:03}q"
        thread = pick.choice(self.topics) if chat is self.club else 0
        message = self._send(kind, by, chat, thread, number, mark)
        is_stranger = by is self.eve and not chat.is_group
        is_silent = is_stranger or kind == "aside" or (by is self.eve and self.is_blocked)
        said = Said(kind, by, mark, message, is_silent, self.talk.telegram.people.last_update_id)
        self.said.append(said)
        if kind == "tell":
            self.codes[f"Z{number:03}Z"] = said
        return said

    def _send(self, kind: str, by: User, chat: Chat, thread: int, number: int, mark: str) -> Message:
        people = self.talk.telegram.people
        if kind == "photo":
            return people.send_photo(by, b"jpeg", caption=f"a picture {mark}", chat=chat)
        if kind == "file":
            return people.send_document(by, f"{mark}.pdf", b"pdf", chat=chat)
        at = BOT if chat.is_group else ""
        texts = {
            "talk": f"hello {mark}",
            "aside": f"we two talk {mark}",
            "tell": f"remember that the locker has the code Z{number:03}Z {mark}",
            "ask": f"what about the code of the locker? {mark}",
            "slow": f"speak slowly {mark}",
            "long": f"speak at length {mark}",
            "recall": f"/recall{at} {mark}",
            "list": f"/recall{at} locker",
            "forget": f"/forget{at} {mark}",
        }
        text = texts[kind]
        if chat is self.club and kind != "aside" and text[0] != "/":
            text = f"{BOT} {text}"
        return people.write(by, text, chat=chat, thread_id=thread)

    def _repeat(self) -> None:
        """Let the service deliver a confirmed update once more; as a new one only what makes a line on flash."""
        offset = max((_offset(call) for call in self.talk.calls("getUpdates")[-3:]), default=0)
        confirmed = [said for said in self.said[-8:] if said.update < offset]
        if not confirmed:
            return
        said = self.random.choice(confirmed)
        is_kept = said.kind not in ("recall", "list", "file") and not said.is_silent
        same_id = not is_kept or self.random.random() < 0.5
        self.talk.telegram.people.repeat_update(said.update, same_id=same_id)
        self.happened["repeated update" if same_id else "repeated message"] += 1

    def _block(self) -> None:
        self.settle()
        self.is_blocked = True
        self.talk.command(f"/people block telegram:{self.eve.id}")

    def _flood(self) -> None:
        """Let Cid write faster than the board reads."""
        for _ in range(self.rate + 2):
            self.write(self.cid, "talk")

    def _fail(self, kind: str, method: str) -> None:
        faults = self.talk.telegram.faults
        if kind == "outage":
            faults.fail(502, count=4)
        elif kind == "cable":
            faults.cut_before(count=4)
        elif kind == "flood":
            faults.flood(1, method=method)
        else:
            getattr(faults, kind)(method=method)
        self.happened[kind] += 1

    def _cut(self, cut: str) -> None:
        """Cut the power where `cut` says, and start the board again."""
        talk, server = self.talk, self.talk.server
        by = self.random.choice((self.ann, self.bob))
        if cut == "idle":
            self.settle()
        elif cut == "model":
            asked = len(talk.model.requests)
            self.write(by, "slow")
            self.write(by, "talk")
            self.write(self.cid, "talk")
            talk.wait(lambda: len(talk.model.requests) > asked)
        else:
            method = "sendMessage" if cut == "sent" else cut
            self.settle()
            before = server.ledger.by_method[method]
            if cut != "sent":
                talk.telegram.faults.delay(3600, method=method)
            self.write(by, "talk")
            # The second one waits for the first, while one of another chat is taken.
            self.write(by, "talk")
            self.write(self.cid, "talk")
            talk.wait(lambda: server.ledger.by_method[method] > before and not self._delays(server))
            if cut in ("sendMessage", "sent"):
                last = self.said[-1].update
                talk.wait(lambda: any(_gave(call, last) for call in server.ledger.of_method("getUpdates")[-4:]))
        talk.kill()
        self.happened["cut: " + cut] += 1
        talk.start()

    @staticmethod
    def _delays(server: FakeTelegram) -> bool:
        return any(fault.kind == "delay" for fault in server.faults.waiting)

    def settle(self) -> None:
        """Wait until each message is accounted for, and the board has nothing to do."""
        self.talk.telegram.wait_until(lambda _: self._is_settled(), SECONDS)

    def _is_settled(self) -> bool:
        return self.talk._is_idle() and not self.account().problems

    # --- the ledger

    def account(self) -> Ledger:
        """What came of each message so far."""
        ledger = Ledger(self.said, self.eve)
        for message in self._from_bot():
            ledger.take(message)
        ledger.judge()
        return ledger

    def _from_bot(self) -> list[Message]:
        people = self.talk.server.people
        chats = [*(people.private_chat(user) for user in self.everybody), self.club, self.garden]
        return [message for chat in chats for message in people.from_bot(chat)]

    def leaks(self) -> list[str]:
        """Code words that were shown where they may not be: in a chat, or to the model for somebody else."""
        shown = [(text, each.chat) for each in self._from_bot() for text in each.versions]
        of_mark = {said.mark: said for said in self.said}
        for request in self.talk.model.requests:
            shown.append((str(request.body), of_mark[_asker(request)].chat))
        leaks = []
        for text, chat in shown:
            for code in set(_LOCKER.findall(text)):
                teller = self.codes[code]
                self.seen[code].add(chat.id)
                if not teller.chat.is_group and teller.chat is not chat:
                    leaks.append(f"{code} of {teller.by.first_name} is shown in {chat.title or chat.user}")
        return leaks

    def journal_problems(self) -> list[str]:
        """What is wrong in the board's journal: a message that has two lines, or the scope of another place."""
        data = (self.talk.home.folder / "flash.bin").read_bytes()
        reader = flash.LittlefsReader(lambda at, size: data[at : at + size])
        names = [name for name in reader.sizes() if name.startswith("journal/journal") and name.endswith("jsonl")]
        lines = [json.loads(line) for name in names for line in reader.content(name).splitlines()]
        problems = []
        mids = Counter(line["mid"] for line in lines if "mid" in line)
        problems += [f"{mid} has {count} lines" for mid, count in mids.items() if count > 1]
        of_mark = {said.mark: said for said in self.said}
        for line in lines:
            said = of_mark.get(next(iter(MARK.findall(line.get("text", ""))), "")) if "mid" in line else None
            if said:
                scope = "all" if said.chat.is_group else "user:" + _principal(said.by)
                if line.get("scope", "all") != scope:
                    problems.append(f"{said.mark} has the scope {line.get('scope')} in place of {scope}")
        return problems


def _gave(call: Call, update: int) -> bool:
    """Whether a poll was answered with an update."""
    return isinstance(call.result, list) and any(each["update_id"] == update for each in call.result)


def _offset(call: Call) -> int:
    offset = call.arguments.get("offset")
    return offset if isinstance(offset, int) else 0


def _principal(user: User) -> str:
    return "owner" if user.first_name == "Ann" else user.first_name.lower()


def _asker(request: RecordedRequest) -> str:
    """The mark of the message that a request is about: the person's last one."""
    messages = [message for message in body_of(request)["messages"] if message["role"] == "user"]
    found = MARK.findall(str(messages[-1]["content"]))
    return found[-1] if found else ""
