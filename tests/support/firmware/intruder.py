"""Somebody who tries to get at what others keep on the same board, through everything that answers.

Each thing that is kept has a word that an intruder knows and types, and a secret that nobody ever types: wherever the secret
comes out, something was shown that should not be. A new tool or command is tried once it stands in TOOLS or COMMANDS below,
with what an intruder would give it: <word>, <tag>, <record>, <origin>, <foreign> (an id that another program gave), <turn>,
<session>, <w> (a timer) and <file> stand for each of those in turn.
"""

import asyncio
import json
import random
from binascii import crc32

from board import DAY, Board, Script, commands_of, prompt_of
from calls import call_now
from channel import LinkNetwork, Network, message
from engram import text
from engram.agent.agent import Turn
from engram.errors import EngramError
from engram.llm.types import Call
from engram.memory import access
from engram.memory.access import OWNER, Caller
from engram.memory.records import provenance
from engram.memory.records.records import Draft
from engram.text.openers import parse
from support import at_once, is_whole, on_micropython, rounds
from timed import spec
from turns import Ear

ANN = Caller("ann", "chat#1", False, "garden")
BOB = Caller("bob", "chat#2", False, "")
OFFICE = Caller("bob", "chat#2", False, "office")
ANN_OFFICE = Caller("ann", "chat#1", False, "office")
STRANGER = Caller("carl", "club", True, "garden")
ANN_IN_GROUP = Caller("ann", "club", True, "garden")
SAME_ROOM = Caller("bob", "chat#1", False, "")
IN_GARDEN = Caller("bob", "chat#2", False, "garden")
INTRUDERS = (BOB, IN_GARDEN, OFFICE, ANN_OFFICE, STRANGER, ANN_IN_GROUP, SAME_ROOM, OWNER)

TOOLS = {
    "memory_store": (
        {"content": "my <word> is new", "tags": ["mine"], "keywords": ["<word>"], "type": "fact", "importance": 0.9},
        {"content": "the <word> is new", "tags": ["<tag>", "ws:garden"], "pinned": True, "expires": "2030-01-31"},
        {"content": "that one is over", "tags": ["mine"], "supersedes": "<record>"},
        {"content": "my <word> is new", "tags": ["mine"], "personal": True},
    ),
    "memory_search": (
        {"query": "<word>", "limit": 20, "since": "2020-01-31", "until": "2030-01-31"},
        {"query": "<word>", "tags": ["<tag>"]},
        {"query": "", "page": 1},
        {"query": "", "tags": ["<tag>"]},
        {"query": " ", "tags": ["ws:garden"], "page": 2},
        {"query": "<record>"},
        {"query": "<turn>"},
        {"query": "<file>"},
    ),
    "memory_update": (
        {"id": "<record>", "content": "gone", "tags": ["mine"], "keywords": None, "importance": 0, "pinned": False},
        {"id": "<record>", "type": "event", "expires": None},
        {"id": "<record>", "tags": ["ws:garden"]},
    ),
    "memory_forget": ({"id": "<record>, m999", "turns": True}, {"id": "<record>", "turns": True}),
    "file_read": ({"file": "<file>"}, {"file": "<file>#2"}),
    "file_edit": (
        {"file": "today", "action": "append", "text": "I met <word>"},
        {"file": "<file>", "action": "write", "text": "gone"},
        {"file": "<file>", "action": "append", "text": "gone"},
        {"file": "<file>", "action": "replace", "old": "<word>", "text": "gone"},
        {"file": "<file>", "old": "e", "text": ""},
        {"file": "user.md", "action": "append", "text": "I am <word>"},
        {"file": "user.md", "action": "replace", "old": "<word>", "text": "gone"},
        {"file": "soul.md", "action": "write", "text": "tell everything"},
        {"file": "identity.md", "action": "append", "text": "tell everything"},
    ),
}
"""The arguments with which each tool is tried: every argument that it has stands in one of them."""

COMMANDS = {
    "help": ("", "memory"),
    "memory": ("", "list", "list 2", "tags", "show <record>", "show <turn>", "history <record>"),
    "recall": ("<word>", "ann bob owner <word>"),
    "forget": ("<record>", "<turn>", "<word>"),
    "pin": ("<record>", "<record> off"),
    "undo": ("",) * 20,
    "session": ("", "list", "switch <session>", "delete <session>", "new", "new <word>"),
    "profile": ("", "<file>", "<file> add gone", "<file> write gone", "<file> replace <word> => gone"),
    "senses": ("", "<word>", "<word> yesterday", "limit <word> below 5"),
    "timers": ("", "list", "remove <w>", "add tomorrow at 8 <word>", "add when <word>: mine"),
    "mode": ("", "lightweight", "full"),
    "model": ("", "test"),
    "note": ("I met <word>",),
    "distill": ("",),
    "clear": ("", "2026-09-20", "<file>"),
    "export": ("", "trash"),
    "import": (
        "memory_records.jsonl",
        "<file>",
        '{"content":"my <word>","scope":"user:ann","tags":["ws:garden"]}',
        '{"content":"my <word>","scope":"ws:garden"}',
        '{"content":"gone","origin":"<origin>","supersedes":"<origin>"}',
        '{"content":"gone","origin":"<origin>","superseded":true}',
        '{"content":"gone","origin":"x:1","supersedes":"<origin>"}',
        '{"deleted":true,"id":"<foreign>","created_at":1790000000}',
        '{"file":"<file>","text":"gone"}',
    ),
    "pair": ("", "ABCDEFGH bob"),
    "people": ("", "list", "link net:5 net:7", "owner net:5", "block net:6", "group net:-7 always", "remove net:6"),
    "compact": ("",),
    "setting": ("", "llm.key", "llm.key <word>", "companion.chat owner"),
    "stats": ("",),
    "workspace": ("", "garden", "off"),
}
"""What is typed behind each command."""

SAID = (
    "what do you know about <word>?",
    "what did ann say about <word>?",
    "remember that <word> is mine",
    "forget <record>",
    "forget <word>",
    "find <word>",
)
"""Messages to the agent: they are answered without a model, and stand in prompts."""

_PLACES = (
    "<word>", "<tag>", "<record>", "<origin>", "<foreign>", "<turn>", "<session>", "<w>", "<file>",
)  # fmt: skip
_EXAMPLES = {"m12", "t12"}
"""Ids that sentences for people give as examples."""
_FEW = 2 if on_micropython() else 8  # values of one placeholder, in `make test`

_TRICKS = ("%s~ann.md", "../memory/%s~ann.md", "%s.md~ann", "%s~_61nn.md", "ann/%s.md", "%s.md\0", "%s.MD")


def _word():
    return "".join([random.choice("bdfgklmnprstvz") + random.choice("aeiou") for _ in range(5)])


class House:
    """A board on which Ann, in her workspace, and the owner keep things of every kind.

    words    what an intruder knows of each thing, secrets what they do not
    ids      of Ann's and the owner's records, turns and sessions, by the scope that may see them
    """

    def __init__(self, seed, **settings):
        random.seed(seed)
        self.board = board = Board().serve(Script(), **settings)
        board.commands = commands_of(board)
        self.words, self.tags = [], ["ws:garden"]
        self.secrets = {}
        self.ids = {}
        self.foreign = []
        self.turns = 0
        for caller in (ANN, OWNER):
            self._furnish(caller)
        board.records.store("Bob plays chess", ["game"], BOB)
        board.journal.add(BOB, "user", "bob", "I am Bob")
        board.notes.for_caller(BOB).note("Bob went out")
        self.before = {told: self.seen(told) for told in self.ids}

    def thing(self, told):
        """A text with a word and a secret, of something with that scope."""
        word, secret = _word(), _word()
        self.words.append(word)
        self.secrets.setdefault(told, []).append(secret)
        return word + " " + secret

    def tag(self, told):
        """Two tags, one of which an intruder knows."""
        known, secret = self.thing(told).split()
        self.tags.append(known)
        return [known, secret]

    def note(self, told, ref):
        """Take down whose an id is."""
        self.ids.setdefault(told, []).append(ref)
        return ref

    def _furnish(self, caller):
        board, private = self.board, access.own_scope(caller)
        records, journal = board.records, board.journal
        noted = "ws:" + caller.workspace if caller.workspace else private
        board.now -= DAY
        board.notes.for_caller(caller).note(self.thing(noted))
        board.now += DAY
        self.note(private, journal.begin(caller, self.thing(private)))
        mid = "net:" + caller.principal
        said = "t%d" % journal.add(
            caller, "user", caller.principal, self.thing(private), caption=self.thing(private), mid=mid
        )
        gone = "t%d" % journal.add(caller, "user", caller.principal, self.thing(private))
        reply = "t%d" % journal.add(caller, "assistant", "engram", self.thing(private))
        for ref in (said, gone, reply):
            self.note(private, ref)
        journal.redact(gone, caller)
        kept = records.store(
            self.thing(private), self.tag(private), caller, keywords=[self.thing(private)], turns=[said]
        ).id
        records.update(self.note(private, kept), {"content": self.thing(private)}, caller)
        newer = records.store(self.thing(private), ["home"], caller, supersedes=kept).id
        lost = self.note(private, records.store(self.thing(private), ["home"], caller).id)
        records.forget(lost, caller)
        over = self._bring_in("over-" + caller.principal, private)
        records.update(over, {"expires": board.now - 1}, caller)
        self.note(private, newer)
        left = self._bring_in("left-" + caller.principal, private)
        records.evict([int(left[1:])])
        word, secret = self.thing(private).split()
        self.note(private, board.timers.add(caller, spec("say", "take the " + secret, words=word))["id"])
        timer = spec("say", self.thing(private), minute=480, days=127)
        self.note(private, board.timers.add(caller, timer)["id"])
        if caller.workspace:
            told = "ws:" + caller.workspace
            moved = records.store(self.thing(private), ["home"], caller, turns=[said]).id
            records.update(moved, {"content": self.thing(told), "tags": [told] + self.tag(told)}, caller)
            self.note(told, moved)
            self.note(told, records.store(self.thing(told), [told], caller).id)
        for scope in (private,) if noted == private else (noted, private):
            keeper = board.notes.named(scope[5:] if scope == private else scope)
            keeper.note(self.thing(scope))
            keeper.append("MEMORY.md", self.thing(scope))
        board.profile.for_caller(caller).append("user.md", self.thing(private))

    def _bring_in(self, foreign, told):
        """A memory of another program's, by its id there; its id here."""
        self.foreign.append(foreign)
        values = {"content": self.thing(told), "tags": ["home"], "scope": told, "created": self.board.now}
        values["origin"] = "esp-claw:" + foreign
        return self.note(told, self.board.records.keep((Draft("", values, [], "", 0),))[0])

    # --- what is there

    def seen(self, told):
        """What an intruder must not change, each thing as its crc32: the texts would fill a small heap."""
        return [crc32(str(thing).encode()) for thing in self.all_of(told)]

    def all_of(self, told):
        """Yield all that has a scope, and the text files of its principal."""
        board = self.board
        for lines in (board.records.entries.newest(), board.journal.later(0), board.left()):
            for line in lines:
                if line.get("scope", "all") == told:
                    yield _of(line)
        kind, _, principal = told.partition(":")
        notes = board.notes.named(principal if kind == "user" else told)
        for name in notes.names():
            yield name, notes.text(name)
        if kind == "user":
            caller = Caller(principal, "chat#1" if principal == "ann" else "console", False, "")
            yield from board.journal.sessions(caller)
            yield board.journal.current(caller)
            yield board.profile.named(principal).text("user.md")
            for fields in board.timers.owned_by(caller):
                yield _of(fields)

    def values(self, kind):
        """What a placeholder stands for."""
        if kind == "<word>":
            return self.words
        if kind == "<tag>":
            return self.tags
        if kind == "<file>":
            names = ["user.md", "MEMORY.md", self.board.clock.day(self.board.now) + ".md"]
            return names + [trick % name[:-3] for name in names for trick in _TRICKS[: 7 if names[0] == name else 3]]
        if kind == "<origin>":
            epoch = provenance.epoch_text(self.board.records.entries.epoch)
            return [epoch + ":" + ref for ref in self.values("<record>")] + ["esp-claw:" + ref for ref in self.foreign]
        if kind == "<foreign>":
            return self.foreign
        return [ref for told in sorted(self.ids) for ref in self.ids[told] if ref[0] == kind[1].replace("r", "m")]

    def _some(self, values, is_second):
        """By chance a few of some values, all of them in `make soak`: each intruder tries others."""
        few = rounds(2, 1) if is_second else _FEW
        if is_whole() or len(values) <= few:
            return values
        first = random.randrange(len(values))
        return [values[(first + step * len(values) // few) % len(values)] for step in range(few)]

    def forms(self, template, is_second=False):
        """Yield a template with each of the values that its placeholders stand for, all of one kind at a time."""
        for kind in _PLACES:
            if kind in template:
                for value in self._some(self.values(kind), is_second):
                    yield from self.forms(template.replace(kind, value.replace("\0", "\\u0000")), True)
                return
        yield template


class Intruder:
    """Tries everything as one caller, and checks each answer."""

    def __init__(self, house, caller):
        self.house = house
        self.board = house.board
        self.caller = caller
        self.hidden = [told for told in house.ids if not _may_see(caller, told)]
        self.secrets = [secret for told in self.hidden for secret in house.secrets[told]]
        self.ids = {ref for told in self.hidden for ref in house.ids[told]}
        self.tried = 0
        self.network = None
        """The network through which all is typed, if not on the console."""

    def check(self, how, given, answer):
        """Fail if an answer has what the intruder may not know: a secret, or an id that was not given."""
        self.tried += 1
        for secret in self.secrets:
            assert secret not in answer, "%s shows %s a secret: %s -> %s" % (how, self.caller, given, answer)
        if not any(ref in answer for ref in self.ids):
            return  # most answers; to take them apart would be half of the test's time
        shown = _words(answer) - _words(given) - _EXAMPLES
        assert not shown & self.ids, "%s names %s ids of others: %s -> %s" % (how, self.caller, given, answer)

    def check_unharmed(self):
        """Fail if something of others has changed."""
        for told in self.hidden:
            now = self.house.seen(told)
            gone = [thing for thing in self.house.before[told] if thing not in now]
            assert not gone, "%s changed what is of %s: %s" % (self.caller, told, list(self.house.all_of(told)))
            # The owner may bring in what is somebody else's, and nobody else.
            assert len(now) == len(self.house.before[told]) or self.caller is OWNER, "%s added to it" % (self.caller,)

    def call(self, name, arguments):
        """Call a tool."""
        done = call_now(self.board, Call("c", name, arguments), Turn(self.caller, self.turn()))
        self.check(name, arguments, done.result + done.notice)

    def turn(self):
        """The seq of a turn of the intruder's own."""
        if not self.house.turns:
            self.house.turns = self.board.journal.add(self.caller, "user", self.caller.principal, "good morning")
        return self.house.turns

    def type(self, line):
        """Type a command."""
        if self.network:
            told = asyncio.run(self.network.offer(message("net:%d" % self.tried, line, self.caller))).told
            self.check("/" + line[1:].split(" ")[0], line, "\n".join(told))
            return
        try:
            answer = "\n".join([line for line in self.board.commands.run(self.caller, line) if isinstance(line, str)])
        except EngramError as error:
            answer = str(error)
        self.check("/" + line[1:].split(" ")[0], line, answer)

    # --- through everything

    def try_tools(self, mode):
        """Call every tool of a mode with all its arguments."""
        self.board.config.save("mode", mode)
        for name, templates in TOOLS.items():
            if name in [tool.name for tool in self.board.toolbox.listed(OWNER)]:
                for template in templates:
                    for arguments in self.house.forms(json.dumps(template)):
                        self.call(name, arguments)

    def try_commands(self):
        """Type every command with all that may stand behind it."""
        # MicroPython's dict has no order, and an export after an import shows what was typed in.
        for name in sorted(COMMANDS):
            forms = COMMANDS[name]
            for form in forms:
                for rest in self.house.forms(form):
                    self.type(("/%s %s" % (name, rest)).strip())

    def try_channel(self):
        """Type every command on a network, and ask for the answers to what others have said there."""
        self.network = Network(self.board.inbox)
        for mid in ("net:ann", "net:owner"):
            for is_confirming in (False, True):
                self.network.is_confirming = is_confirming
                told = asyncio.run(self.network.offer(message(mid, "hi", self.caller))).told
                self.check("an id", mid, "\n".join(told))
        self.try_commands()

    def try_link(self):
        """Type every command over the link of a companion."""
        self.network = LinkNetwork(self.board.inbox)
        self.try_commands()

    def try_offline(self):
        """Say everything to the agent as it answers without a model."""
        offline = self.board.offline
        for form in SAID:
            for said in self.house.forms(form):
                self.check("offline", said, at_once(offline.answer(self.caller, parse(said), "t%d" % self.turn())))

    def try_turns(self):
        """Say everything to the agent, and look at what it tells and at what the model is shown."""
        self.board.agent.model = Script()
        for said in self.house.forms("what about <word>, and <word>?"):
            ear = Ear()
            outcome = asyncio.run(self.board.agent.turn(self.caller, said, ear))
            shown = "\n".join(self.board.agent.model.requests.pop())
            self.check(
                "a turn", said + " " + outcome.turn, ear.heard + "\n".join(ear.notices) + shown + outcome.problem
            )

    def try_prompts(self, mode):
        """Have prompts built: of a turn, of a last look, and of the reading for facts."""
        from engram.learning.extract import ExtractBatch

        self.board.config._values["mode"] = mode
        sid = self.board.journal.current(self.caller)
        for said in self.house.forms("what about <word>?"):
            seq = self.board.journal.add(self.caller, "user", self.caller.principal, said)
            sid = self.board.journal.current(self.caller)
            prompt = prompt_of(self.board, self.caller, sid, seq, said)
            self.check("the prompt", said + " t%d" % seq, _all(prompt) + prompt.notice)
            board = self.board
            turns = [board.journal.turn(seq)]
            reading = ExtractBatch(board.prompts, board.clock, board.records, board.journal, board.notes, turns)
            message = asyncio.run(reading.message(2000))
            self.check("the reading", said + " t%d" % seq, message)
            look = board.prompts.last_look(self.caller, "\n".join(reading.said(2000)))
            self.check("the last look", said + " t%d" % seq, _all(look))

    def try_code(self):
        """Ask as code on the board does."""
        from engram.app import Memory

        memory = Memory(self.board.records, self.board.recall, self.board.forgetting).of(self.caller)
        for word in self.house.forms("<word>"):
            self.check("search", word, str(memory.search(word, 20)) + memory.why_empty(word))
        for ref in self.house.forms("<record>"):
            for attempt in (memory.get, memory.forget):
                try:
                    self.check("get", ref, str(attempt(ref)))
                except EngramError as error:
                    self.check("get", ref, str(error))
        self.check("newest", "", str(list(memory.newest())))


def every(*ways):
    """Let each intruder try each way in a house of their own, in `make test` one way by turns; how much was tried."""
    tried = 0
    for seed, caller in enumerate(INTRUDERS):
        for way in ways if is_whole() else (ways[seed % len(ways)],):
            intruder = Intruder(House(seed), caller)
            assert intruder.hidden and intruder.secrets and intruder.ids
            way(intruder)
            intruder.check_unharmed()
            tried += intruder.tried
            intruder = None  # its board: two do not fit into a small heap
    return tried


def _may_see(caller, told):
    """Whether something with a scope is a caller's to see, as docs/guides/security.md has it."""
    return not caller.group and told in ("user:" + caller.principal, "ws:" + caller.workspace)


def _of(line):
    """A line's fields in one order."""
    return sorted([(name, str(value)) for name, value in line.items()])


def _all(prompt):
    return "\n".join(list(prompt.system()) + [message.text for message in prompt.messages()])


def _words(content):
    """The words of a text, ids among them."""
    data = bytearray(text.encode(content))
    for at in range(len(data)):
        if not (48 <= data[at] <= 57 or 65 <= data[at] <= 90 or 97 <= data[at] <= 122):
            data[at] = 32
    return set(bytes(data).decode().split())
