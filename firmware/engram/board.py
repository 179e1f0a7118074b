"""One board's parts, as build.py wires them: App owns it, and hands on what others need."""

from engram.agent.agent import TurnQueue
from engram.channels.people import People
from engram.compat import const

TYPE_CHECKING = const(0)  # so that the imports below are not even compiled for the chip
if TYPE_CHECKING:
    from engram.agent.answer import Agent
    from engram.agent.offline import Offline
    from engram.agent.prompt import PromptBuilder
    from engram.archive.index import ArchiveIndex
    from engram.archive.transfer import ArchiveTransfer
    from engram.channels.console.commands import Commands
    from engram.channels.inbox import Inbox
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
    from engram.memory.recall import Recall
    from engram.memory.records.eviction import Eviction
    from engram.memory.records.records import Records
    from engram.memory.records.schema import RecordSchema
    from engram.memory.records.trash import Trash
    from engram.memory.texts.notes import Notes
    from engram.memory.texts.profile import Profile
    from engram.memory.texts.retention import NoteRetention
    from engram.memory.undo import Undo
    from engram.senses.sampling import Sampling
    from engram.senses.senses import Senses
    from engram.senses.view import SenseView
    from engram.senses.watch import Watch
    from engram.store.log.reserve import Reserve
    from engram.timers.timers import Timers
    from engram.tools.pins import Pins
    from engram.tools.toolbox import Toolbox


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
    timers: "Timers"
    recall: "Recall"
    toolbox: "Toolbox"
    """All tools that the model may call."""
    prompts: "PromptBuilder"
    offline: "Offline"
    agent: "Agent"
    commands: "Commands"
    inbox: "Inbox"
    archived: "ArchiveIndex | None" = None
    companion: "Companion | None" = None
    remote_search = None
    """Asks the companion, None without one."""
    archive: "ArchiveTransfer | None" = None
    """Gives memories to the companion, None without one."""
    link_state: "LinkState | None" = None
    distillation: "Distillation | None" = None
    jobs: "Jobs | None" = None
    flush: "Flush | None" = None
    model: "Model | None" = None
    senses: "Senses | None" = None
    """Senses of the board, None until something is observed or configured."""
    sampling: "Sampling | None" = None
    """Reader of the sensors of config.json, None if there are none."""
    sense_watch: "Watch | None" = None
    """Monitor of their limits, None without senses."""
    sense_view: "SenseView | None" = None
    """View of the readings for people and the model, None without senses."""
    pins: "Pins | None" = None
    telegram: "Telegram | None" = None
    flash_walk = ()
    """(bytes used, bytes in all, bytes of the logs) as the file system was last walked, see status.py."""
    begin = None
    """begin(name, run) runs what is added while the app runs."""
    tls: "object | None" = None
    """The TLS context that the board's links share, None as long as none is over TLS."""
    people: "People | None" = None
    """None until somebody talks through a network, see find_people()."""

    def __init__(self, config, folder: str, clock, network):
        self.config = config
        self.folder = folder
        self.clock = clock
        self.network = network
        self.turn_queue = TurnQueue()
        self.tag_snapshots = {}
        """The catalog as each session's prompts show it."""
        self.searches = [0, 0]
        """Searches since the start, and how many of them found nothing."""

    def find_people(self) -> "People":
        """Return the people who may talk through networks, read when first needed."""
        if self.people is None:
            config = self.config
            self.people = People(self.folder, self.clock, config.get("people.policy"), config.get("people.rate"))
        return self.people
