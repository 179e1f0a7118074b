"""A board's parts on a folder, wired by build.py, with a clock that a test sets; and a scripted model.

A board takes its place on the flash from the board before it: a test has one, which it restarts.
"""

import gc
import os

import engram.text  # noqa: F401 first: an import within an import takes more of the stack
from engram import build
from engram.clock import Clock
from engram.compat import finish, heap_free, heap_used
from engram.config import Config
from engram.errors import EngramError
from engram.memory import recall_block
from engram.memory.access import OWNER, Caller, own_scope
from engram.memory.recall import make_query
from engram.memory.records.records import Draft
from support import folder, raises

NOW = 1790000000  # 2026-09-21 14:13 in Greenwich
DAY = 86400

ANN = Caller("ann", "chat#1", False, "")
ROOM = Caller("ann", "chat#2", True, "")

_last = None

if hasattr(gc, "mem_free"):
    # Less often than the app does it: a collection walks the whole heap, and was most of what the tests cost.
    gc.threshold((heap_used() + heap_free()) // 4)  # pyright: ignore[reportAttributeAccessIssue]  # MicroPython has it


DEFAULTS = {"records.bytes": 524288, "records.most": 10000, "journal.bytes": 786432}


class Settings(Config):
    """Settings whose values may lie outside the bounds, so that a test reaches a limit soon."""

    def __init__(self, folder, *settings):
        super().__init__(folder)
        for values in settings:
            self._values.update(values)


class Board(build.Board):
    """The layers up to memory; `limits` are settings, by name ("records_most" is records.most)."""

    model: "Script | None"
    turn: str  # the turn that calls of tools belong to, see calls.py

    def __init__(self, segment_bytes=16384, **limits):
        global _last
        if _last:
            _last.close()
            remove(_last.place)
        _last = self
        gc.collect()
        self.place = self.folder = folder()
        self.now = NOW
        self.segment_bytes = segment_bytes
        self.limits = limits
        self.open()

    def open(self):
        settings = Settings(self.place, DEFAULTS, dotted(self.limits))
        super().__init__(settings, self.place, Clock(0, lambda: self.now), None)
        self.add_memory(self.segment_bytes)
        self.records_store, self.journal_store = self.records.entries, self.journal.entries

    def configure(self, **settings):
        """Add the settings, by name ("session_messages" is session.messages)."""
        self.config = Config(self.place, dotted(settings))
        return self

    def with_tools(self, **settings):
        """Add settings and tools."""
        return self.serve(**settings)

    def serve(self, model=None, learns=False, **settings):
        """Add all layers above memory; with `learns` what follows each turn too."""
        self.configure(**settings)
        self.model = model  # pyright: ignore[reportIncompatibleVariableOverride]  # a script stands in for a model
        self.add_agent(learns)
        commands_of(self)
        return self

    def learn(self, model, **settings):
        """As serve(), with what follows each turn; the background does its jobs at once, when the test lets it run."""
        return self.serve(model, True, extract_pause_seconds=0, **settings)

    def remember(self, content, tags, **more):
        """Keep a record of the owner's; its id. Unlike store() it looks for no record that says the same, which costs more
        than all else where many are alike.
        """
        values = {"content": content, "tags": tags, "scope": own_scope(OWNER), "created": self.now}
        values.update(more)
        return self.records.keep((Draft("", values, [], "", 0),))[0]

    def find(self, query, caller, limit=10, skip=(), more=None, **filters):
        """What recall finds."""
        return self.recall.find(self.recall.with_remote(self.rank(query, caller, skip=skip, **filters), more), limit)

    def block(self, query, caller, budget, skip=(), citations=True, more=None):
        """The block of a prompt."""
        ranked = self.recall.with_remote(self.rank(query, caller, skip=skip), more)
        return recall_block.make(self.recall, ranked, budget, citations)

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

    def lose_indexes(self):
        """Open it without the tables of its logs, as if they had been lost."""
        self.close()
        for log in (self.place + "/memory/", self.place + "/journal/"):
            for name in os.listdir(log):
                if name.endswith(".index") or ".x" in name:
                    os.remove(log + name)
        self.open()

    def left(self):
        """The records that left for lack of room, newest first."""
        return [record for record in self.records.left() if record]

    def compact(self):
        finish(self.records.compacting())
        finish(self.journal.compacting())

    def holds(self, content: str) -> bool:
        """Whether a text stands in any file of the board."""
        return any(_stands_in(path, content.encode()) for path in paths(self.place))


def dotted(settings) -> dict:
    """Settings that are given as arguments, by their names in config.json."""
    return {name.replace("_", ".", 1): value for name, value in settings.items()}


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
    if not hasattr(board, "config"):
        board.configure()
    if not hasattr(board, "agent"):
        board.add_agent()
    return board.commands


def prompt_of(board, caller, sid, seq, content):
    """The prompt for a turn."""
    window = board.prompts.window(caller, sid, seq)
    ranked = board.prompts.rank(caller, content, window, seq)
    return board.prompts.build(caller, sid, seq, content, window, "", ranked)


def lines_of(board, line, caller=OWNER):
    """The lines that a command answers, without its pauses."""
    return [line for line in board.commands.run(caller, line) if not isinstance(line, int)]


def error_of(board, line, caller=OWNER):
    """What a command that is refused says."""
    with raises(EngramError) as caught:
        lines_of(board, line, caller)
    return str(caught.error)


def board_with_prompts(**settings):
    return Board().serve(**settings)


def say(board, content, role="user", caller=OWNER, **more):
    return board.journal.add(caller, role, caller.principal if role == "user" else "engram", content, **more)


def build_prompt(board, content, caller=OWNER):
    """The prompt of a message that is written as the agent does it."""
    seq = say(board, content, caller=caller)
    return prompt_of(board, caller, board.journal.current(caller), seq, content)


def messages_of(prompt):
    return [(message.role, message.text) for message in prompt.messages()]


class Script:
    """A model that plays one step for each request.

    A step is a text to pass on, a Call, an error to raise, a function of the request, or a list of these. `requests` has
    the texts of each request, system first.
    """

    name = "script"
    kept: tuple = ()
    calls = tokens = 0
    rounds = 10
    no_tools = ""
    work = "thinking"
    problem = ""
    first_ms = 600_000

    def __init__(self, *steps):
        self.steps = list(steps)
        self.asked = 0
        self.requests = []

    def note_call(self):
        pass

    def note_no_call(self):
        pass

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
        reply = Reply(text, tuple(calls), "tools" if calls else "end", (-1, -1, -1))
        reply.kept = self.kept
        return reply


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
