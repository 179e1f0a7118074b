"""One board's parts, as build.py wires them: App owns it, and hands on what others need."""

from engram.agent.agent import Gate
from engram.compat import const
from engram.lazy import lazy

TYPE_CHECKING = const(0)  # so that the imports below are not even compiled for the chip
if TYPE_CHECKING:
    from engram.agent.agent import Agent, Confirmations
    from engram.api import Memory
    from engram.archive.index import ArchiveIndex
    from engram.channels.console.commands import Commands
    from engram.channels.inbox import Inbox
    from engram.channels.people import People
    from engram.channels.telegram.channel import Telegram
    from engram.learning.cursor import LearningCursor
    from engram.learning.distill import Distillation
    from engram.learning.flush import Flush
    from engram.learning.jobs import Jobs
    from engram.link.companion import Companion
    from engram.link.link_state import LinkState
    from engram.llm.model import Model
    from engram.memory.forgetting import Forgetting
    from engram.memory.journal.journal import Journal
    from engram.memory.records.eviction import Eviction
    from engram.memory.records.records import Records
    from engram.memory.records.schema import RecordSchema
    from engram.memory.records.trash import Trash
    from engram.memory.texts.notes import Notes
    from engram.memory.texts.profile import Profile
    from engram.memory.texts.retention import NoteRetention
    from engram.memory.undo import Undo
    from engram.reminders.reminders import Reminders
    from engram.senses.answers.view import SenseView
    from engram.senses.events.limit_tool import LimitTool
    from engram.senses.events.watch import Watch
    from engram.senses.sampling import Sampling
    from engram.senses.senses import Senses
    from engram.store.log.reserve import Reserve
    from engram.timers.timers import Timers
    from engram.tools.pins import Pins
    from engram.tools.toolbox import Toolbox

_DRIFT = const(65536)  # bytes that the logs may change by until the flash in use is counted again


def _wired(board, name: str, *arguments):
    """What a function of build_turn.py wires for a board."""
    with lazy("build_turn"):
        from engram import build_turn

        return getattr(build_turn, name)(board, *arguments)


def _wired_timers(board, name: str, *arguments):
    """The same of build_timers.py."""
    with lazy("build_timers"):
        from engram import build_timers

        return getattr(build_timers, name)(board, *arguments)


class Board:
    """A board's parts; App runs them."""

    reserve: "Reserve"
    turns_reserve: "Reserve"
    schema: "RecordSchema"
    records: "Records"
    journal: "Journal"
    trash: "Trash"
    eviction: "Eviction"
    learning_cursor: "LearningCursor"
    forgetting: "Forgetting"
    undo: "Undo"
    profile: "Profile"
    notes: "Notes"
    note_retention: "NoteRetention"
    reminders: "Reminders"
    confirmations: "Confirmations"
    agent: "Agent"
    commands: "Commands"
    inbox: "Inbox"
    archived: "ArchiveIndex | None" = None
    companion: "Companion | None" = None
    link_state: "LinkState | None" = None
    distillation: "Distillation | None" = None
    jobs: "Jobs | None" = None
    flush: "Flush | None" = None
    model: "Model | None" = None
    senses: "Senses | None" = None
    """What the board perceives, None until something is observed or configured."""
    sampling: "Sampling | None" = None
    """What reads the sensors of config.json, None if there are none."""
    sense_watch: "Watch | None" = None
    """What watches that, None without senses."""
    sense_view: "SenseView | None" = None
    """What shows the readings to people and to the model, None without senses."""
    sense_limits: "LimitTool | None" = None
    """What sets limits of that, likewise."""
    pins: "Pins | None" = None
    telegram: "Telegram | None" = None
    timers: "Timers | None" = None
    """None until there is one, see find_timers()."""
    has_timer_tool = False
    """Whether the toolbox has the tool that sets timers."""
    flash_walk = ()
    """(bytes used, bytes in all, bytes of the logs) as the file system was last walked, see status.py."""
    begin = None
    """begin(name, run) runs what is added while the app runs."""
    tls: "object | None" = None
    """The TLS context that the board's links share, None as long as none is over TLS."""
    toolbox: "Toolbox | None" = None
    """A person's own tools and pins, None until there is one."""
    _people: "People | None" = None

    def __init__(self, config, folder: str, clock, network):
        self.config = config
        self.folder = folder
        self.clock = clock
        self.network = network
        self.gate = Gate()
        self.tag_snapshots = {}
        """The catalog as each session's prompts show it."""
        self.searches = [0, 0]
        """How often somebody searched since the start, and how often nothing was found."""
        self.seen_help = set()
        """The principals who have seen the list of the commands that are understood without a model."""

    def remote_search(self):
        """What asks a companion, None if there is none."""
        return self.companion.ask if self.companion else None

    def archive(self):
        """The transfer that gives memories to a companion, None if there is none."""
        return self.companion.archive if self.companion else None

    def is_unread(self, seq: int) -> bool:
        """Whether a turn waits for being read for facts."""
        return self.model is not None and seq > self.learning_cursor.until

    # What only a turn, a command or code on the board needs is made when it is used: a small heap has neither the parts nor the
    # code that wires them before. Each method is written out: one that a function makes takes thrice the heap.

    def make_memory(self) -> "Memory":
        """What code on the board talks to."""
        return _wired(self, "memory")

    def make_answerer(self, *others):
        """What answers one turn; `others` are settings, journal, reminders and model for a turn that nobody said."""
        return _wired(self, "answerer", *others)

    def make_recall(self):
        """What searches records and turns."""
        return _wired(self, "recall")

    def make_prompts(self):
        """What builds the prompts."""
        return _wired(self, "prompts")

    def make_tools(self):
        """The tools that a model calls."""
        return _wired(self, "tools")

    def make_offline(self):
        """What answers plain commands without a model."""
        return _wired(self, "offline")

    def make_deliveries(self, inbox):
        """What answers messages that have their network's id."""
        return _wired(self, "deliveries", inbox)

    def find_people(self) -> "People":
        """Who may talk through networks: read once somebody does, or is asked about."""
        people = self._people
        if people is None:
            people = self._people = _wired(self, "people")
        return people

    def find_senses(self) -> "Senses":
        """What keeps readings: made when the first one comes, or at the start if there are some already."""
        if self.senses is None:
            with lazy("build_senses"):
                from engram.build_senses import add_senses

                add_senses(self)
        return self.senses  # type: ignore[reportReturnType]  it is set now

    def find_timers(self) -> "Timers":
        """What is said, called or asked at a time: made with the first of them."""
        timers = self.timers
        if timers is None:
            timers = self.timers = _wired_timers(self, "timers")
            if self.begin:
                self.begin("timers", timers.run)
        return timers

    def check_tool(self, name: str, arguments: str, caller, is_confirmed: bool) -> None:
        """ArgumentError if a timer of this caller may not call a tool of this board with these arguments."""
        _wired_timers(self, "check_tool", name, arguments, caller, is_confirmed)

    def find_toolbox(self) -> "Toolbox":
        """What holds a person's own tools: made when the first one is added."""
        toolbox = self.toolbox
        if toolbox is None:
            with lazy("build_tools"):
                from engram.build_tools import toolbox as make_toolbox

                toolbox = self.toolbox = make_toolbox(self)
        return toolbox

    def read_pin(self, name: str):
        """The value of a pin of config.json as a number, None if it cannot be read."""
        value = self.pins.values((name,))[name] if self.pins else None
        return {"on": 1, "off": 0}.get(value) if isinstance(value, str) else value

    def check_arguments(self, arguments: str, schema: str) -> dict:
        """The arguments of a call as a dict; ArgumentError if they do not fit the schema."""
        with lazy("agent.schema_check"):
            from engram.agent import schema_check

            return schema_check.arguments(arguments, schema)

    def find_status(self) -> dict:
        """How the board is, see status.py."""
        with lazy("status", "store"):
            from engram.status import find_status

            return find_status(self)

    @property
    def log_bytes(self) -> int:
        """Bytes of both logs on flash."""
        return self.records.bytes + self.journal.bytes

    def walk_flash(self) -> None:
        """Count the flash in use, unless little has changed since that was done."""
        if self.flash_walk and abs(self.log_bytes - self.flash_walk[2]) < _DRIFT:
            return
        with lazy("status"):
            from engram.status import walk_flash

            walk_flash(self)

    def make_handlers(self) -> dict:
        """What each command needs."""
        with lazy("channels.console.commands.handlers", "build_turn"):
            from engram.channels.console.commands.handlers import handlers

            return handlers(self)
