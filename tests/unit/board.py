"""A board's parts on a folder, wired as the app does it, with a clock that a test sets; and a scripted model.

A board takes its place on the flash from the board before it: a test has one, which it restarts.
"""

import gc
import os

from engram import board
from engram.clock import Clock
from engram.compat import heap_free, heap_used
from engram.learning.cursor import LearningCursor
from engram.memory.access import OWNER, Caller, own_scope
from engram.memory.forgetting import Forgetting
from engram.memory.journal.journal import Journal
from engram.memory.journal.schema import TurnSchema
from engram.memory.principal_files import PrincipalFiles
from engram.memory.recall import Recall, make_query
from engram.memory.records.eviction import Eviction
from engram.memory.records.importance import Usage
from engram.memory.records.records import Draft, Records
from engram.memory.records.schema import RecordSchema
from engram.memory.records.trash import Trash
from engram.memory.texts.notes import Notes
from engram.memory.texts.profile import Profile
from engram.memory.texts.retention import NoteRetention
from engram.memory.undo import TextChanges, Undo
from engram.reminders.reminders import Reminders
from engram.store.log.reserve import Reserve
from engram.store.log.segments import Log
from engram.store.store import Store
from support import folder

NOW = 1790000000  # 2026-09-21 14:13 in Greenwich
DAY = 86400

ANN = Caller("ann", "chat#1", False, "")
ROOM = Caller("ann", "chat#2", True, "")

_last = None

if hasattr(gc, "mem_free"):
    # Less often than the app does it: a collection walks the whole heap, and was most of what the tests cost. A small heap
    # would then be left without a piece that is long enough for a long text.
    gc.threshold((heap_used() + heap_free()) // (16 if heap_used() + heap_free() < 1 << 20 else 4))


class Board(board.Board):
    """The layers up to memory; `limits` are the arguments of the parts that a test sets."""

    network = None

    def __init__(self, **limits):
        global _last
        if _last:
            _last.close()
            remove(_last.place)
        _last = self
        gc.collect()
        self.place = self.folder = folder()
        self.now = NOW
        self.limits = limits
        self.open()

    def open(self):
        from engram.agent.agent import Gate

        self.gate = Gate()
        self.tag_snapshots = {}
        limit = self.limits.get
        self.clock = clock = Clock(0, lambda: self.now)
        for name in ("/memory", "/journal"):
            if not is_folder(self.place + name):
                os.mkdir(self.place + name)
        segment_bytes = limit("segment_bytes", 16384)
        log = Log(self.place + "/memory", "memory_records", segment_bytes=segment_bytes)
        reserve = Reserve(self.place + "/memory/reserve.bin", segment_bytes)
        turns_reserve = Reserve(self.place + "/journal/reserve.bin", segment_bytes)
        versions = RecordSchema()
        self.records_store = Store(log, versions, reserve)
        self.records_store.open()
        turn_schema = TurnSchema(clock, limit("sessions", 24))
        log = Log(self.place + "/journal", "journal", segment_bytes=segment_bytes)
        self.journal_store = Store(log, turn_schema, turns_reserve)
        self.journal_store.open()
        self.link_state = None
        if limit("archive", False):
            from engram.archive.index import ArchiveIndex
            from engram.link.link_state import LinkState

            logs = (("records", self.records_store.raw()), ("journal", self.journal_store.raw()))
            self.link_state = LinkState(self.place + "/memory", clock, logs)
            self.archived = ArchiveIndex(self.place + "/memory", self.records_store, versions, clock, self.link_state)
        cap = limit("records_bytes", 524288)
        most = limit("records_most", 10000)
        uses = Usage(self.place + "/memory", clock)
        self.trash = Trash(self.place + "/memory", limit("trash_bytes", 65536))

        def make_eviction(records):
            return Eviction(records, self.trash, most, cap, lambda: getattr(self.companion, "archive", None))

        self.records = Records(
            self.records_store,
            clock,
            limit("content_chars", 2000),
            cap,
            None,
            most,
            uses,
            None,
            self.archived,
            make_eviction if limit("evict", True) else None,
        )
        self.eviction = self.records.eviction or make_eviction(self.records)
        self.journal = Journal(self.journal_store, turn_schema, clock, limit("journal_bytes", 786432), self.link_state)
        self.learning_cursor = LearningCursor(self.place + "/memory", versions, self.records, self.journal, clock)
        self.learning_cursor.open()
        self.forgetting = Forgetting(self.records, self.journal, self.trash, self.archived)
        changes = TextChanges(self.records_store, clock)
        people = PrincipalFiles((self.place + "/memory", self.place + "/profile"), limit("principals_most", 8))
        self.profile = Profile(self.place + "/profile", changes, people, limit("profile_chars", 2000))
        self.profile.seed()
        chars, days = limit("notes_chars", 8000), limit("notes_days", 30)
        self.notes = Notes(self.place + "/memory", changes, clock, people, chars, days)
        self.undo = Undo(self.records_store, self.journal, clock, {"profile": self.profile, "note": self.notes})
        limits = limit("notes_days", 30), limit("notes_bytes", 131072)
        self.note_retention = NoteRetention(self.place + "/memory", self.notes, versions, clock, *limits)
        self.reminders = Reminders(self.place + "/memory", clock, **limit("intents", {}))
        self.reminders.open()
        from engram.archive.remote_results import ResultMerger  # at the top it is too deep for a small stack

        self.recall = Recall(self.records, self.journal, clock, ResultMerger(self.records, self.journal, self.archived))

    def configure(self, **settings):
        """Add the settings, by name ("session_messages" is session.messages)."""
        from engram.config import Config

        self.config = Config(self.place, {name.replace("_", ".", 1): value for name, value in settings.items()})
        return self

    def with_tools(self, **settings):
        """Add settings and tools."""
        return self.serve(**settings)

    def serve(self, model=None, learns=False, **settings):
        """Add all layers above memory; with `learns` what follows each turn too."""
        from engram.build import add_agent

        self.configure(**settings)
        self.model = model
        add_agent(self, learns)
        self.tools, self.prompts, self.offline = self.make_tools(), self.make_prompts(), self.make_offline()
        commands_of(self)
        return self

    def learn(self, model, **settings):
        """As serve(), with what follows each turn; the background does its jobs at once, when the test lets it run."""
        return self.serve(model, True, extract_pause_seconds=0, **settings)

    def make_recall(self):
        return self.recall

    def remember(self, content, tags, **more):
        """Keep a record of the owner's; its id. Unlike store() it looks for no record that says the same, which costs more
        than all else where many are alike.
        """
        values = {"content": content, "tags": tags, "scope": own_scope(OWNER), "created": self.now}
        values.update(more)
        return self.records.keep((Draft("", values, [], "", 0),))[0]

    def find(self, query, caller, limit=10, skip=(), more=None, **filters):
        """What recall finds."""
        return self.recall.find(self.rank(query, caller, skip=skip, **filters), limit, more)

    def block(self, query, caller, budget, skip=(), citations=True, more=None):
        """The block of a prompt."""
        return self.recall.block(self.rank(query, caller, skip=skip), budget, citations, more)

    def rank(self, query, caller, **filters):
        return self.recall.rank(make_query(query, caller, **filters))

    def search(self, query, limit, caller=OWNER):
        """Yield (hit, record) of the records alone."""
        return self.records.search(make_query(query, caller), limit)

    def search_turns(self, query, limit, caller, session="", **filters):
        """Yield (hit, turn) of the journal alone."""
        return self.journal.search(make_query(query, caller, **filters), limit, session)

    def close(self):
        self.records_store.close()
        self.journal_store.close()

    def restart(self):
        """Open the same folder anew, as after a power cut."""
        self.close()
        self.open()

    def compact(self):
        self.records.compact()
        self.journal.compact()

    def holds(self, content: str) -> bool:
        """Whether a text stands in any file of the board."""
        return any(_stands_in(path, content.encode()) for path in paths(self.place))


def _stands_in(path: str, wanted: bytes) -> bool:
    with open(path, "rb") as file:
        before = b""
        while True:
            piece = file.read(1024)
            if not piece:
                return False
            if wanted in before + piece:
                return True
            before = piece[-len(wanted) :]


def commands_of(board):
    """The commands of a board, to which what it lacks for them is added."""
    from engram.channels.console.commands.commands import Commands
    from engram.handlers import handlers

    if not hasattr(board, "config"):
        board.configure()
    if not hasattr(board, "agent"):
        from engram.build import add_agent

        add_agent(board)
    board.commands = Commands(lambda: handlers(board))
    return board.commands


def prompt_of(board, caller, sid, seq, content):
    """The prompt for a turn."""
    window = board.prompts.window(caller, sid, seq)
    ranked = board.prompts.rank(caller, content, window, seq)
    return board.prompts.build(caller, sid, seq, content, window, "", ranked)


class Script:
    """A model that plays one step for each request.

    A step is a text to pass on, a Call, an error to raise, a function of the request, or a list of these. `requests` has
    the texts of each request, system first.
    """

    name = "script"

    def __init__(self, *steps):
        self.steps = list(steps)
        self.asked = 0
        self.requests = []

    async def stream(self, request, on_text, on_retry=None):
        from engram.llm.types import Reply

        self.asked += 1
        self.requests.append(list(request.system()) + [message.text for message in request.messages()])
        text, calls = "", []
        step = self.steps.pop(0) if self.steps else "ok"
        for item in step if isinstance(step, list) else [step]:
            if isinstance(item, BaseException):
                raise item
            if isinstance(item, str):
                text += item
                await on_text(item)
            elif isinstance(item, tuple):
                calls.append(item)
            else:
                item(request)
        return Reply(text, tuple(calls), "tools" if calls else "end", (-1, -1, -1))


def has_large_heap() -> bool:
    """Whether there is more heap than on a chip without PSRAM, so that texts of the longest length can be tried."""
    return not 0 <= heap_free() < 400000


def is_folder(path: str) -> bool:
    try:
        return os.stat(path)[0] & 0x4000 != 0
    except OSError:
        return False


def paths(place: str):
    """Yield the paths of all files below a folder."""
    for name in os.listdir(place):
        path = place + "/" + name
        if is_folder(path):
            yield from paths(path)
        else:
            yield path


def remove(place: str) -> None:
    """Remove a folder with all that is in it."""
    for name in os.listdir(place):
        path = place + "/" + name
        if is_folder(path):
            remove(path)
        else:
            os.remove(path)
    os.rmdir(place)
