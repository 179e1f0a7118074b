"""Writes all that a board can keep into a folder, the same bytes on each run: the fixture of docs/design/testing.md.

    write_board.py FOLDER           into a folder of the host
    write_board.py FOLDER FLASH     into a littlefs in the file FLASH, mounted at FOLDER; MicroPython only

The clock, the seeds and the model's replies are fixed. `random` differs between MicroPython and CPython, so each writes
epochs of its own.
"""

import asyncio
import json
import random
import sys

from engram import files, log_line
from engram.agent.agent import Sink
from engram.app import App
from engram.clock import Clock
from engram.errors import EngramError
from engram.llm.types import Call, Reply
from engram.memory.access import OWNER, Caller
from engram.memory.records.records import Draft
from fake_companion import Companion, Way

FLASH_BYTES = 1 << 20
START = 1790000000  # 2026-09-21 14:13 in Greenwich
HOUR, DAY = 3600, 86400
UNSET = 1000  # what the machine's clock reads until somebody sets it

OWNER_GARDEN = Caller("owner", "console", False, "garden")
ANN = Caller("ann", "chat#1", False, "")
ANN_GARDEN = Caller("ann", "chat#1", False, "garden")
BOB = Caller("Bob", "chat#2", False, "")
GROUP = Caller("Bob", "group#7", True, "")

CONFIG = {
    "timezone": "+02:00",
    "records": {"most": 150, "bytes": 131072, "trash_bytes": 5120, "content_chars": 1500},
    "journal": {"bytes": 65536},
    "session": {"messages": 12, "live": 10},
    "notes": {"days": 20},
    "intents": {"days": 60, "cooldown_hours": 12},
    "extract": {"pause_seconds": 0},
    "companion": {"device": "kitchen"},
    "console": {"workspace": "garden"},
    "log": {"level": "error"},
}
SECRETS = {
    "llm": {"key": "no-key"},
    "companion": {"token": "no-token"},
    "wifi": [{"ssid": "Fixture", "password": "not-a-password"}],
}
LINK = (("board", "0f1e2d3c4b5a"), ("chip", ""), ("link", 0), ("have", [0, 0, 0, 0]))

RECORDS, TURNS, ARCHIVED = 150, 240, 24

THINGS = (
    "ladder", "kettle", "violin", "lawnmower", "printer", "bicycle", "telescope", "tent", "camera", "heater", "piano",
    "greenhouse", "Fahrrad", "café table", "自行车", "望远镜", "лестница", "дрель", "مفتاح", "ノート", "🚲 pump",
)  # fmt: skip
PLACES = (
    "cellar", "attic", "garage", "garden", "kitchen", "office", "shed", "pantry", "balcony", "Küche", "地下室", "подвал",
)  # fmt: skip
PEOPLE = ("Mila", "Otto", "Nils", "Rosa", "Zoë", "王伟", "Ольга", "Karl")
COLOURS = ("green", "blue", "red", "grey", "yellow", "black", "white", "brown")
FORMS = (
    "The %(colour)s %(thing)s of %(person)s is in the %(place)s, on shelf %(number)d",
    "%(person)s repaired the %(thing)s in the %(place)s %(number)d days ago",
    "%(person)s 把%(thing)s放在%(place)s，编号%(number)d",
    "The %(place)s needs %(number)d litres of %(colour)s paint before %(person)s brings the %(thing)s",
    "%(person)s paid %(number)d euros for the %(colour)s %(thing)s",
)
TYPES = ("fact", "decision", "preference", "convention", "code_context", "pattern", "event", "device")
SOURCES = ("manual", "auto_llm", "auto_rule", "distilled", "import")
SCOPES = ("user:owner", "all", "user:ann", "user:owner", "ws:garden", "user:Bob", "user:owner", "all")


class Numbers:
    """Small pseudo-random numbers, the same on each runtime."""

    def __init__(self, seed):
        self._state = seed

    def below(self, limit):
        self._state = (self._state * 1103515245 + 12345) & 0x7FFFFFFF
        return (self._state >> 12) % limit

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def text(self):
        """A sentence of one of FORMS."""
        words = {"colour": self.pick(COLOURS), "thing": self.pick(THINGS), "person": self.pick(PEOPLE)}
        words["place"] = self.pick(PLACES)
        words["number"] = self.below(90) + 10
        return self.pick(FORMS) % words


class Script:
    """A model that plays one step for each request: a text, or the calls of tools."""

    name = "script"

    def __init__(self):
        self.steps = []
        self.otherwise = "All right."

    async def stream(self, request, on_text, on_retry=None):
        step = self.steps.pop(0) if self.steps else self.otherwise
        if isinstance(step, str):
            await on_text(step)
            return Reply(step, (), "end", (-1, -1, -1))
        calls = tuple(Call("call_%d" % at, name, json.dumps(arguments)) for at, (name, arguments) in enumerate(step))
        return Reply("", calls, "tools", (-1, -1, -1))


class Life:
    """One board's life."""

    def __init__(self, folder):
        self.folder = folder
        self.now = START
        self.numbers = Numbers(7)
        self.model = Script()
        self.starts = 0
        self.app = self.parts = None

    # --- the board

    def start(self, **overrides):
        """Start the board, as after a restart."""
        if self.parts:
            self.parts.records.uses.save()
            self.parts.records.entries.close()
            self.parts.journal.entries.close()
        self.starts += 1
        random.seed(self.starts)
        overrides = {name.replace("_", ".", 1): value for name, value in overrides.items()}
        self.app = App(self.folder, overrides, clock=Clock(120, lambda: self.now), model=self.model)
        self.parts = self.app.board
        self.rest()

    def rest(self):
        """Let the work in the background end."""
        parts = self.parts
        while True:
            if not sum([part.tick() for part in (parts.records, parts.journal, parts.eviction)]):
                return

    def later(self, seconds):
        self.now += seconds

    def command(self, line, caller=OWNER):
        """Type a command; the lines that it answers."""
        found = []
        try:
            for said in self.parts.commands.run(caller, line):
                if isinstance(said, str):
                    found.append(said)
        except EngramError as error:
            raise AssertionError("%s: %s" % (line, error)) from None
        return found

    async def say(self, text, *steps, caller=OWNER):
        """Say something to the agent, whose model plays these steps."""
        self.model.steps = list(steps)
        await self.app.ask(text, Sink(), caller)

    async def learn(self, *steps):
        """Let what follows turns be done, with these answers of the model."""
        self.model.steps, self.model.otherwise = list(steps), "[]"
        for _ in range(100):
            due = [job for job in self.parts.jobs.jobs if job.is_due()]
            if not due:
                break
            await due[0].step()
        self.model.otherwise = "All right."

    # --- many of each

    def keep(self, content="", **more):
        """Keep a record without a look for its like; its id."""
        numbers = self.numbers
        count = numbers.below(3) + 1
        tags = ["tag-%d" % (numbers.below(5) + 5 * at) for at in range(count)]
        values = {"content": content or numbers.text(), "tags": tags, "created": self.now}
        values["scope"] = numbers.pick(SCOPES)
        if values["scope"] == "ws:garden":
            tags[0] = "ws:garden"
        values["type"] = numbers.pick(TYPES)
        values["source"] = numbers.pick(SOURCES)
        values["importance"] = numbers.below(21) / 20
        if not numbers.below(4):
            values["keywords"] = [numbers.pick(THINGS), numbers.pick(PEOPLE)]
        if not numbers.below(16):
            values["pinned"] = True
        if not numbers.below(10):
            values["expires"] = self.now + (numbers.below(120) - 10) * DAY
        if values["source"] == "import":
            values["origin"] = "1a2b3c4d:m%d" % numbers.below(10000)
        values.update(more)
        return self.parts.records.keep((Draft("", values, [], "", 0),))[0]

    def remember(self, count):
        """Many records; their ids."""
        found = []
        for _ in range(count):
            found.append(self.keep())
            self.later(self.numbers.below(6) * HOUR)
            self.rest()
        return found

    def change(self, refs):
        """Some of these records are changed, superseded, forgotten, pinned, used."""
        records, numbers = self.parts.records, self.numbers
        for at, ref in enumerate(refs):
            record = records.entries.get(int(ref[1:]))
            kind = at % 6
            if record is None or records.entries.state(int(ref[1:])):
                continue  # it has left, or has a successor
            caller = _seen_by(record)
            if kind == 1:
                records.update(ref, {"content": numbers.text()}, caller)
            elif kind == 2:
                changes = {"importance": numbers.below(11) / 10, "tags": ["tag-1", "changed"], "keywords": ["altered"]}
                if record.get("scope") == "ws:garden":
                    del changes["tags"]
                records.update(ref, changes, caller)
                records.update(ref, {"content": numbers.text() + " (third version)"}, caller)
            elif kind == 3:
                self.keep(
                    supersedes=ref, scope=record.get("scope", "all"), tags=record["tags"], turns=["t%d" % (at + 5)]
                )
            elif kind == 4:
                for _ in range(numbers.below(4)):
                    records.used(ref)
            elif kind == 5 and not at % 4:
                self.parts.forgetting.forget(ref, caller, with_turns=True)
            self.later(numbers.below(50))
            self.rest()

    def talk(self, count):
        """Many turns in several rooms, some cut, some commands, one with a picture."""
        numbers = self.numbers
        callers = (OWNER, OWNER, ANN, GROUP, OWNER_GARDEN, ANN, BOB, OWNER)
        for at in range(count):
            caller = callers[at // 2 % len(callers)]
            if at % 60 == 0:
                self.parts.journal.begin(
                    OWNER, "" if at % 120 else "The %s in %s" % (numbers.pick(THINGS), numbers.pick(PLACES))
                )
            if at % 80 == 20:
                self.parts.journal.begin(ANN, "Ann about the " + numbers.pick(THINGS))
            content = numbers.text()
            if at % 9 == 0:
                content += ". " + numbers.text() + ".\n" + numbers.text() + "?"
            role, who = ("assistant", "Engram") if at % 2 else ("user", caller.principal)
            caption = "a photo of the " + numbers.pick(THINGS) if at % 50 == 4 else ""
            self.parts.journal.add(caller, role, who, content, at % 23 == 7, at % 31 == 8, caption)
            self.later(numbers.below(30) * 60)
            self.rest()

    # --- one of each

    async def write(self):
        """All of it."""
        files.make_folder(self.folder + "/memory")
        for name, content in (("config.json", CONFIG), ("secrets.json", SECRETS)):
            files.write(self.folder + "/" + name, json.dumps(content))
        files.write(self.folder + "/memory/link.json", log_line.encode(LINK))
        self.start()
        self.talk(60)
        first = self.remember(RECORDS // 2)
        self.change(first)
        await self.use_model()
        self.undo()
        self.command("/compact")
        self.start()
        self.talk(TURNS // 2)
        self.start_without_a_clock()
        second = self.remember(RECORDS // 2)
        self.change(second)
        self.write_texts()
        await self.use_workspaces()
        await self.give_to_the_companion()
        self.start()
        self.talk(TURNS // 2)
        self.change(self.remember(12))
        self.change_sessions()
        self.undo()
        await self.distil()
        self.damage()
        self.start()
        self.command("/note the last line of this board")
        self.parts.records.uses.save()
        self.rest()

    def start_without_a_clock(self):
        """A start at which nobody has set the clock."""
        now, self.now = self.now, UNSET
        self.start()
        self.parts.journal.add(OWNER, "user", "owner", "What time is it? The clock of the oven blinks")
        self.keep("The clock of the oven blinks after each power cut", scope="user:owner", tags=["oven"])
        self.parts.reminders.add(OWNER, "oven clock", "set the clock")
        self.now = now
        self.start()

    async def use_model(self):
        """What a model does with its tools, and what is learned of turns."""
        store = {"content": "The user is allergic to hazelnuts", "tags": ["health"], "importance": 0.9, "pinned": True}
        await self.say("I am allergic to hazelnuts", [("memory_store", store)], "I will remember.")
        intent = {"action": "add", "when": "the paint shop", "remind": "buy brushes"}
        await self.say("When the paint shop comes up, remind me to buy brushes", [("memory_intent", intent)], "I will.")
        edit = {"file": "user.md", "action": "append", "text": "Speaks German and English."}
        await self.say("I speak German and English", [("profile_edit", edit)], "Noted.")
        await self.learn()
        turn = self.parts.journal.newest + 1
        await self.say("My sister Lena lives in Graz and works as a nurse", "How nice.")
        added = {
            "op": "add",
            "from": "t%d" % turn,
            "content": "The user's sister Lena lives in Graz",
            "tags": ["family"],
        }
        await self.learn(json.dumps([added]))
        self.later(DAY)
        await self.say("I go to the paint shop today", "Good.")
        await self.say("remember that Ann feeds the cat on Sundays", "I will.", caller=ANN)
        await self.say("Ann here: when the cat comes up, remind me to buy litter", "I will.", caller=ANN)
        self.parts.reminders.add(ANN, "dentist", "take the insurance card")
        self.parts.reminders.add(GROUP, "next meeting", "bring cake")
        self.parts.reminders.add(OWNER, "望远镜", "clean the lens")
        self.parts.reminders.add(OWNER, "old reminder", "nothing")
        self.command("/intents remove i%d" % self.parts.reminders.numbers(OWNER)[-1])
        await self.learn()

    def undo(self):
        """Changes that are taken back, and some that are not."""
        live = [record["id"] for record in self.parts.records.newest(OWNER) if record.get("scope") == "user:owner"]
        self.parts.records.update(live[3], {"content": "This version is taken back"})
        self.command("/undo")
        self.command("/forget " + live[5])
        self.command("/undo")
        stored = self.parts.records.store("This memory is taken back zwieback", ["undone"])
        assert stored.outcome == "stored"
        self.command("/undo")
        older = self.keep("The old router is in the hall", scope="user:owner", tags=["router"])
        self.parts.records.store("The new router is in the study", ["router"], supersedes=older)
        self.command("/undo")
        self.keep("The very first router was a Telebit", scope="user:owner", tags=["router"], past=True)
        self.command("/profile soul.md add Is patient and dry.")
        self.command("/profile soul.md add This line is taken back.")
        self.command("/undo")
        self.command("/note a note that is taken back")
        self.command("/undo")
        self.command("/forget " + live[8])

    def write_texts(self):
        """The texts of several people, notes of several days, MEMORY.md."""
        self.command("/profile user.md add Lives in Vienna with a cat.")
        self.command("/profile identity.md add Is called Engram.")
        self.command("/profile user.md add Is Ann, likes green tea. 喜欢绿茶。", ANN)
        self.command("/profile user.md add Bob plays the violin.", BOB)
        for day in range(4):
            self.command("/note the %s was oiled on day %d" % (self.numbers.pick(THINGS), day))
            self.command("/note Ann watered the %s" % self.numbers.pick(PLACES), ANN)
            self.later(DAY)
        self.command("/note Bob tuned the violin", BOB)
        for _ in range(8):
            self.command("/note " + "很长的一条记录，" * 80, ANN)
        self.command("/clear", ANN)
        self.command("/mode lightweight")
        self.parts.notes.for_caller(OWNER).append(
            "MEMORY.md", "- The spare key hangs in the shed.\n- 备用钥匙在棚子里。"
        )
        self.parts.notes.for_caller(ANN).append("MEMORY.md", "- Ann's bicycle is in the cellar.")
        self.command("/mode full")

    async def use_workspaces(self):
        """Memories that are shared in a workspace, and one that went there."""
        roses = self.keep("Roses are watered on Mondays", scope="ws:garden", tags=["ws:garden", "roses"])
        self.command("/pin " + roses, OWNER_GARDEN)
        mine = self.keep("The hose has a leak near the tap", scope="user:ann", tags=["hose"], source="manual")
        self.parts.records.update(mine, {"tags": ["hose", "ws:garden"]}, ANN_GARDEN)
        await self.say("The compost is turned in May", "Good.", caller=ANN_GARDEN)
        await self.learn()

    async def give_to_the_companion(self):
        """Memories and turns that leave for a companion, one that comes back, one that is forgotten there."""
        self.start(companion_url="http://127.0.0.1:9", companion_search="always")
        link = Link(self)
        await link.work()
        for _ in range(ARCHIVED):
            self.keep()
            self.later(HOUR)
            await link.work()
        kept = sorted(link.companion.copy("records").kept)
        assert len(kept) >= ARCHIVED // 2, kept
        number = 0
        for number in kept:
            line = log_line.decode(link.companion.copy("records").kept[number])
            if line.get("scope", "all") == "user:owner":
                break
        for record in list(self.parts.records.newest(OWNER))[40:44]:
            self.parts.forgetting.forget(record["id"], OWNER)
        for _ in range(3):
            self.parts.archived.add_use(number, OWNER)
        await link.work()
        assert self.parts.records.entries.get(number), "none came back"
        gone = [one for one in kept if one != number and link.companion.copy("records").kept.get(one)]
        for one in gone[:2]:
            line = log_line.decode(link.companion.copy("records").kept[one])
            self.parts.forgetting.forget("m%d" % one, _seen_by(line))
        await link.work()
        self.parts.forgetting.forget(
            "m%d" % gone[3], _seen_by(log_line.decode(link.companion.copy("records").kept[gone[3]]))
        )
        link.end()

    def change_sessions(self):
        """Sessions that are deleted and gone back to, turns that are forgotten."""
        sessions = self.parts.journal.sessions(OWNER)
        self.command("/session delete " + sessions[-1].id)
        self.command("/session switch " + sessions[1].id)
        self.command("/session new Plans for the greenhouse")
        seqs = [self.parts.journal.add(OWNER, "user", "owner", "Plan %d of the greenhouse" % at) for at in range(6)]
        self.command("/forget t%d" % seqs[2])
        self.command("/forget t%d" % seqs[4])
        self.parts.journal.show("t%d" % seqs[4], OWNER)
        self.later(HOUR)

    async def distil(self):
        """Notes and a turn become memories; notes of today wait."""
        report = self.parts.distillation.ask("owner", True)
        fact = {"op": "add", "from": ["e1"], "content": "The user oils tools in late autumn", "tags": ["habit"]}
        self.model.steps = [json.dumps([fact])]
        for _ in range(20):
            if report.is_over:
                break
            await self.parts.distillation.step()
        assert report.added, report.why
        await self.learn()
        turn = self.parts.journal.newest + 1
        await self.say("My brother Emil keeps bees", "Honey is good.")
        bees = {"op": "add", "from": "t%d" % turn, "content": "The user's brother Emil keeps bees", "tags": ["family"]}
        await self.learn(json.dumps([bees]))
        self.command("/note this note waits to be distilled")

    def damage(self):
        """What a power cut leaves on another file system: torn lines, which the next start sets aside."""
        for path in ("memory/memory_records.jsonl", "journal/journal.jsonl", "memory/intents.jsonl"):
            with open(self.folder + "/" + path, "ab") as file:
                file.write(b'{"seq":9999,"id":"m9999","content":"a torn li')


class Link:
    """The board's link to a companion in the same process, a step at a time."""

    def __init__(self, life):
        self.life = life
        self.link = life.parts.companion
        self.companion = Companion()
        way = Way(self.companion)
        way.take = self.link._exchange.receive
        self.link._exchange.transport = way
        self.link._exchange.open(self.link.link_state.begin())

    async def work(self):
        """Copy, archive and bring back until there is nothing to do."""
        await self._copy()
        for _ in range(400):
            is_busy = self.life.parts.eviction.tick()
            if self.link._sync._has_changed() or not all(copy.is_done for copy in self.link._sync.copies):
                await self._copy()
            is_busy = await self.link.archive.step() or is_busy
            if not is_busy:
                break
        await self._copy()
        self.life.rest()

    async def _copy(self):
        sync = self.link._sync
        for _ in range(200):
            await sync._greet()
            while not sync._has_changed() and await sync._step():
                pass
            if not sync._has_changed() and all(copy.is_done for copy in sync.copies):
                return
        raise AssertionError("the copy has no end: %s" % self.companion.counts)

    def end(self):
        """End the link."""
        assert self.life.parts.archived.total == len(self.companion.copy("records").kept) - 1
        self.link.link_state.save()


def _seen_by(record):
    """Somebody who sees a record."""
    scope = record.get("scope", "all")
    if scope == "ws:garden":
        return ANN_GARDEN
    return {"user:ann": ANN, "user:Bob": BOB}.get(scope, OWNER)


def main(folder, flash_file=""):
    if flash_file:
        import flash

        flash.mount(flash_file, FLASH_BYTES, folder)
    life = Life(folder)
    asyncio.run(life.write())
    print(life.now)


if __name__ == "__main__":
    main(*sys.argv[1:])
