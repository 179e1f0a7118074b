"""One board's parts, as build.py wires them: App owns it, and hands on what others need."""

from engram.agent.agent import Gate
from engram.compat import const

TYPE_CHECKING = const(0)  # so that the imports below are not even compiled for the chip
if TYPE_CHECKING:
    from engram.agent.agent import Agent
    from engram.agent.offline import Offline
    from engram.agent.prompt import PromptBuilder
    from engram.agent.tools import Tools
    from engram.archive.index import ArchiveIndex
    from engram.channels.console.commands.commands import Commands
    from engram.learning.cursor import LearningCursor
    from engram.learning.distill import Distillation
    from engram.learning.jobs import Jobs
    from engram.link.companion import Companion
    from engram.link.link_state import LinkState
    from engram.llm.model import Model
    from engram.memory.forgetting import Forgetting
    from engram.memory.journal.journal import Journal
    from engram.memory.recall import Recall
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
    capacity: "Eviction"
    learning: "LearningCursor"
    forgetting: "Forgetting"
    changes: "Undo"
    profile: "Profile"
    notes: "Notes"
    daily: "NoteRetention"
    intents: "Reminders"
    recall: "Recall"
    prompts: "PromptBuilder"
    tools: "Tools"
    offline: "Offline"
    agent: "Agent"
    commands: "Commands"
    archived: "ArchiveIndex | None" = None
    companion: "Companion | None" = None
    link_state: "LinkState | None" = None
    distillation: "Distillation | None" = None
    jobs: "Jobs | None" = None
    model: "Model | None" = None

    def __init__(self, config, folder: str, clock, network):
        self.config = config
        self.folder = folder
        self.clock = clock
        self.network = network
        self.gate = Gate()

    def archive(self):
        """The transfer that gives memories to a companion, None if there is none."""
        return self.companion.archive if self.companion else None

    def is_unread(self, seq: int) -> bool:
        """Whether a turn waits for being read for facts."""
        return self.model is not None and seq > self.learning.until
