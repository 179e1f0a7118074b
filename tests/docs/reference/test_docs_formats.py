"""The files on flash: the page's tables have the fields that the firmware writes, each kind of line in a table."""

import asyncio
import functools
import importlib
import json
import re
import time
from pathlib import Path

import pytest

from engram import log_line
from engram.agent.agent import Sink, Turn
from engram.app import App
from engram.archive import transfer
from engram.archive.index import ArchiveIndex
from engram.channels.message import ChannelSink, Message
from engram.compat import finish
from engram.llm.types import Call
from engram.memory.access import OWNER, Caller
from engram.timers import timer_store
from fake_llm import serving
from one_case import in_one_case
from pages import PAGES, fences, in_backticks, plain, read, rows, section, tables
from sharing import shared

PAGE = "docs/reference/formats.md"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")

LOGS = ("memory/memory_records", "journal/journal")
HEADINGS = {
    "Header of a segment": "header",
    "A version of a record": "record",
    "A turn": "turn",
    "A turn whose text has gone": "gone",
}
"""Kinds of lines that are no operations."""

OPERATIONS = ("Operations on records", "Operations on the journal")

SCRIPT = [
    {"when": {"contains": "break off"}, "reply": "one two three four", "fault": {"kind": "cut", "after": 8}},
    {"reply": "All is well."},
]
UNSET = 1000
"""What a clock shows that nobody has set."""


def _kind(line: dict) -> str:
    if "epoch" in line:
        return "header"
    if "op" in line:
        return line["op"]
    return "record" if "content" in line else "gone" if "gone" in line else "turn"


def _fields(lines: list[dict]) -> dict[str, set[str]]:
    """The fields of each kind of line."""
    found: dict[str, set[str]] = {}
    for line in lines:
        found.setdefault(_kind(line), set()).update(line)
    return found


class _Acknowledged:
    """Knows, in place of a LinkState, up to which line a companion has the records."""

    seq = 0

    def have(self, log: str) -> int:
        return self.seq

    noted = have

    def save(self) -> None:
        return


class _Away(ChannelSink):
    """A network that cannot be reached."""

    is_confirming = True

    async def end(self, outcome) -> bool:
        return False


class _Companion(_Away):
    """One that cannot be reached, and offers its messages until it has the answer."""

    is_confirming = False
    is_offered_again = True


def _lines_of(log: Path):
    """Yield the lines of a log's segments, oldest first, headers included."""
    for path in sorted(log.parent.glob(f"{log.name}.*jsonl")):
        yield from map(log_line.decode, path.read_bytes().splitlines(keepends=True))


class _Life:
    """A board that does all that leaves a line."""

    def __init__(self, folder: Path, url: str = ""):
        model = {"llm.url": url + "/v1", "llm.model": "script", "llm.retries": 0} if url else {}
        self.app = App(str(folder), model)
        self._parts = self.app.board
        self._folder = folder
        self.lines: list[dict] = []

    def note_lines(self) -> None:
        """Keep the lines that are in the logs now: some go when they are compacted."""
        self.lines += [line for log in LOGS for line in _lines_of(self._folder / log)]

    def command(self, line: str) -> list[str]:
        return [answer for answer in self._parts.commands.run(OWNER, line) if isinstance(answer, str)]

    def tool(self, name: str, turn: str = "t3", **arguments) -> dict:
        self._parts.config.save("mode", "lightweight" if name.startswith("file_") else "full")
        done = asyncio.run(
            self._parts.toolbox.answer(Call("1", name, json.dumps(arguments)), Turn(OWNER, int(turn[1:])))
        )
        result = json.loads(done.result)
        assert "error" not in result, result
        return result

    def talk(self, *messages: str) -> None:
        async def all_of_them():
            for message in messages:
                await self.app.ask(message, Sink())

        asyncio.run(all_of_them())

    def show_picture(self) -> None:
        self._parts.journal.add(OWNER, "user", "owner", "look at this", caption="a dog on a boat")

    def remember(self) -> None:
        everything = {"keywords": ["k"], "type": "event", "importance": 1, "pinned": True, "expires": "2099-01-01"}
        first = self.tool("memory_store", content="The bike is green", tags=["a"], **everything)["id"]
        self.tool("memory_update", id=first, content="The bike was green")
        second = self.tool("memory_store", content="The bike is sold", tags=["a"], supersedes=first)["id"]
        self.tool("memory_forget", id=second, turns=True)
        for _ in range(3):
            self.command("/undo")

    def learn(self) -> None:
        parts = self.app.board
        parts.learning_cursor.keep([parts.records.draft("Ada plays chess", ["chess"])], parts.journal.newest)
        parts.records.store("Ada plays chess", ["chess"])
        assert parts.records.uses is not None
        parts.records.uses.save()

    def distil(self) -> None:
        parts = self._parts
        parts.notes.for_caller(OWNER).note("rain came in at the attic")
        batch = parts.note_retention.batch("owner", 12000, 4000)
        assert batch
        told = [("op", "distilled"), ("marks", batch.marks), ("at", 7)]
        more = {"when": 1, "until": 2, "people": ["Ada"], "where": "attic", "notes": ["2026-01-31.md"]}
        more |= {"type": "pattern", "confidence": 0.7, "evidence": ["m1"]}
        draft = parts.records.draft("Rain comes in at the attic", ["house"], **more)
        parts.records.keep((draft,), (told,))
        parts.note_retention.note_read(batch)
        self.command("/undo")

    def outgrow(self) -> None:
        parts = self._parts
        first = parts.records.store("The gate squeaks", ["gate"]).id
        second = parts.records.store("The gate was oiled", ["gate"], supersedes=first, turns=["t3"]).id
        parts.records.evict([int(second[1:])])
        parts.records.evict([int(parts.records.store("The lamp hums", ["lamp"]).id[1:])])

    def archive(self) -> None:
        """Memories leave for a companion, two come back and go, and others are forgotten there."""
        records = self._parts.records
        acknowledged = _Acknowledged()
        archived = ArchiveIndex(records.entries, records.entries.owner, self._parts.clock, acknowledged)
        records._archived = self._parts.forgetting._archived = archived
        refs: list[str] = []
        for content in ("The fence is green", "The pond froze", "The roof leaks", "The well is dry"):
            older = records.store(content + " still", ["old"]).id
            refs.append(records.store(content, ["old"], scope="user:owner", supersedes=older).id)
        lines = [records.get(ref) for ref in refs]
        transfer.archive(records, [(int(line["id"][1:]), line["seq"]) for line in lines])
        for line in (lines[0], lines[3]):
            transfer.restore(records, archived, line, OWNER)
        self._parts.forgetting.forget(refs[1])
        self.note_lines()
        acknowledged.seq = records.entries.next_seq
        finish(records.compacting())
        archived.add_use(int(refs[2][1:]), OWNER)
        self._parts.forgetting.forget(refs[2])
        records.forget(refs[0])
        records.evict([int(refs[3][1:])])
        self.note_lines()

    def intend(self) -> None:
        self.command("/timers add when the paint shop: buy brushes")

    def move_in(self) -> None:
        told = self.command('/import {"content":"Ann sails","origin":"1a2b3c4d:m3","superseded":true}')
        assert told[0].startswith("stored m")

    def host(self) -> None:
        """Somebody else, in a workspace, speaks and has files."""
        ann = Caller("ann", "chat", False, "garden")
        self._parts.journal.add(ann, "user", "ann", "the gate is open")
        self._parts.notes.for_caller(ann).write("MEMORY.md", "x")
        self._parts.notes.for_caller(ann).note("y")
        self._parts.profile.for_caller(ann).write("user.md", "z")

    def edit(self) -> None:
        self.command("/profile user.md add Likes short answers.")
        self.command("/undo")
        self.app.note("The window is open")
        self.tool("file_edit", file="MEMORY.md", action="write", text="x" * 7000)
        self.tool("file_edit", file="MEMORY.md", action="write", text="short")
        self.command("/undo")

    def meet(self) -> None:
        """Somebody writes through a network, in whose answers the journal names ids; the board begins to talk, too."""

        async def talk():
            inbox, ann = self._parts.inbox, Caller("ann", "net 5", False, "")
            inbox.deliveries.add_channel("net", lambda address: (_Away(), "net 5"))
            for mid, said in (("net:5:1", "hello"), ("net:5:2", "/note it rains")):
                await inbox.handle(Message(mid, ann, said, said[0] == "/", "", "", ""), ChannelSink())
            await inbox.handle(Message("link:5", ann, "hello again", False, "Bob", "tea?", ""), _Companion())
            self._parts.journal.add(ann, "user", "ann", "[photo] a fox", sensed=True)
            await inbox.handle(Message("net:5:3", ann, "hello there", False, "", "", "net:5:1"), ChannelSink())
            self._parts.journal.note_acted(1)
            self._parts.journal.add(ann, "assistant", "engram", "late", answers=1)
            pushing = inbox.deliveries.push(ann, "The paint has come")
            assert pushing
            await pushing

        asyncio.run(talk())
        self.command("/pair net:5 ann")
        for line in list(self._parts.journal.entries.lines_backwards()):
            if {"mid", "re", "to"} & set(line) and "op" not in line and self._parts.journal.turn(line["seq"]):
                self._parts.journal.redact(f"t{line['seq']}", Caller("ann", "net 5", False, ""))

    def move(self) -> None:
        begun = self.command("/session new Garden")[0].split()[1]
        self.command("/session switch s1")
        self.command("/session delete " + begun)

    def forget(self, turn: str) -> None:
        self.command("/forget " + turn)
        self.note_lines()
        self.command("/compact")
        self.note_lines()


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> tuple[dict[str, set[str]], set[str]]:
    """The fields of each kind of line, and the names of all files, that a board wrote in its life."""
    return shared(tmp_path_factory, "formats-written", lambda: _lived(tmp_path_factory))


def _lived(tmp_path_factory) -> tuple[dict[str, set[str]], set[str]]:
    folder, offline = tmp_path_factory.mktemp("board"), tmp_path_factory.mktemp("offline")
    with serving(SCRIPT) as server, pytest.MonkeyPatch.context() as patch:
        life = _Life(folder, server.url)
        life.talk("hello", "break off")
        life.show_picture()
        life.remember()
        life.learn()
        life.distil()
        life.outgrow()
        life.archive()
        life.intend()
        life.move_in()
        life.host()
        life.edit()
        life.meet()
        life.move()
        life.forget("t5")
        patch.setattr(time, "time", lambda: UNSET)
        unset = _Life(offline)
        unset.talk("remember that it rains")
        unset.forget("t3")
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return _fields(life.lines + unset.lines), files


def _documented() -> dict[str, set[str]]:
    """The fields of each kind of line as the page has them."""
    found = {}
    for heading, table in tables(read(PAGE), 3).items():
        if heading in HEADINGS:
            found[HEADINGS[heading]] = {plain(row[0]) for row in table}
        elif heading in OPERATIONS:
            found |= {op: {"seq", "op", *in_backticks(row[1])} for row in table for op in in_backticks(row[0])}
    return found


def test_every_kind_of_line_is_documented(written):
    assert set(_documented()) == set(written[0])


@in_one_case("kind", sorted(_documented()))
def test_the_table_of_a_kind_has_the_fields_that_are_written(kind, written):
    others = {"profile": "note", "note": "profile", "redact": "show", "show": "redact"}
    fields = written[0].get(kind, set()) | written[0].get(others.get(kind, kind), set())
    assert _documented()[kind] == fields


def test_the_table_of_a_timer_has_the_fields_that_are_written():
    listed = [plain(row[0]) for row in rows(section(read(PAGE), "### timers.jsonl"))]
    assert listed == ["id"] + [field[0] for field in timer_store.SCHEMA]


def test_every_file_is_documented(written):
    listed = [plain(row[0]) for row in rows(read(PAGE).partition("\n## ")[0])]
    parts = {"NNNN": r"\d{4}", "xN": r"x\d+", r"YYYY\-MM\-DD": r"\d{4}-\d\d-\d\d", "~NAME": "~[a-z0-9_-]+"}
    patterns = [
        functools.reduce(lambda name, part: name.replace(*part), parts.items(), re.escape(name)) for name in listed
    ]
    for name in written[1]:
        assert any(re.fullmatch(pattern, name) for pattern in patterns), name


def test_the_bounds_are_the_codes():
    for _, value, where in rows(section(read(PAGE), "## Logs", below=False)):
        module, _, name = plain(where).rpartition(".")
        assert getattr(importlib.import_module(f"engram.{module}"), name) == int(value), where


@in_one_case("page", PAGES)
def test_lines_of_logs_are_whole(page):
    for fence in fences(read(page), "jsonl"):
        for line in fence.text.encode().splitlines(keepends=True):
            assert log_line.check(line), line
