"""One board's parts, as build.py wires them: App owns it, and hands on what others need."""

from engram.agent.agent import Gate
from engram.compat import const
from engram.lazy import lazy

TYPE_CHECKING = const(0)  # so that the imports below are not even compiled for the chip
if TYPE_CHECKING:
    from engram.agent.agent import Agent
    from engram.agent.confirmations import Confirmations
    from engram.api import Memory
    from engram.archive.index import ArchiveIndex
    from engram.channels.console.commands.commands import Commands
    from engram.learning.cursor import LearningCursor
    from engram.learning.distill import Distillation
    from engram.learning.flush import Flush
    from engram.learning.jobs import Jobs
    from engram.link.companion import Companion
    from engram.link.link_state import LinkState
    from engram.llm.on_demand import ModelOnDemand
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
    from engram.store.log.reserve import Reserve


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
    memory: "Memory"
    confirmations: "Confirmations"
    agent: "Agent"
    commands: "Commands"
    archived: "ArchiveIndex | None" = None
    companion: "Companion | None" = None
    link_state: "LinkState | None" = None
    distillation: "Distillation | None" = None
    jobs: "Jobs | None" = None
    flush: "Flush | None" = None
    model: "ModelOnDemand | None" = None

    def __init__(self, config, folder: str, clock, network):
        self.config = config
        self.folder = folder
        self.clock = clock
        self.network = network
        self.gate = Gate()
        self.tag_snapshots = {}
        """The catalog as each session's prompts show it."""

    def remote_search(self):
        """What asks a companion, None if there is none."""
        return self.companion.ask if self.companion else None

    def archive(self):
        """The transfer that gives memories to a companion, None if there is none."""
        return self.companion.archive if self.companion else None

    def is_unread(self, seq: int) -> bool:
        """Whether a turn waits for being read for facts."""
        return self.model is not None and seq > self.learning_cursor.until

    # --- what only a turn needs is made when it is used: a small heap has neither the parts nor the code that wires them before

    def make_answerer(self):
        """The Answerer of one turn."""
        with lazy("build_turn"):
            from engram import build_turn

            return build_turn.answerer(self)

    def make_recall(self):
        """The Recall over records and turns."""
        with lazy("build_turn"):
            from engram import build_turn

            return build_turn.recall(self)

    def make_prompts(self):
        """The PromptBuilder."""
        with lazy("build_turn"):
            from engram import build_turn

            return build_turn.prompts(self)

    def make_tools(self):
        """The tools that a model calls."""
        with lazy("build_turn"):
            from engram import build_turn

            return build_turn.tools(self)

    def make_offline(self):
        """The plain commands that need no model."""
        with lazy("build_turn"):
            from engram import build_turn

            return build_turn.offline(self)

    def make_post_turn(self):
        """The PostTurn of a turn that a model answered."""
        with lazy("build_turn"):
            from engram import build_turn

            return build_turn.post_turn(self)

    def make_model(self, tls, addresses):
        """The model that the settings name, with a TLS context and the addresses of its host where they are known."""
        with lazy("build_turn"):
            from engram import build_turn

            return build_turn.model(self, tls, addresses)
