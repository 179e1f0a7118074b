"""Every error that the companion raises on purpose, in one tree.

    CompanionError
      SettingError       a setting is wrong (name)
      Refused            a board's message is refused; the answer says why, and when to try again (again)
      Stale              a late or repeated message, which is ignored
      BadSearch          a search has an invalid option (name)
      Missing            what a request names is not there (name)
        UnknownDevice      no board of that name has ever connected
        UnknownSense       a board has no sense of that name
        NoSuchFile         no file of that name is in a Markdown folder
        UnknownConversation   no message to a board has that id
        UnknownEntry       a board's copy has no memory or turn of that id
        UnknownImport      no import has that id
        UnknownMedia       no photo or sound of a board has that id
      FileUnreadable     a file cannot be shown
      MessageIdTaken     another message to a board has that id (id)
      TooManyWaiting     too many messages wait for a board
      MemoryNotChangeable   the state of a memory, or of a change of it, allows no change or undo (id)
      ImportRefused      an import cannot be created, started or ended now
      MediaRefused       a photo or sound is refused, or its file cannot be read
      StoreUnavailable   the database cannot be read or written now: nothing was acknowledged
        StoreBusy        another process has locked it for too long
        StoreFull        its disk is full
        StoreDamaged     its pages are damaged: nothing more is written
      EmbedderError      no vector was computed
        EmbedderUnavailable   retrying may help
        EmbedderRefused       retrying does not help: a key, a model's name, a size (status)
      GatewayRefused     the gateway refuses a request (status, code, headers); see gateway/dialects.py

str(error) is one sentence for a person: the problem and the remedy.
"""

from engram_host.sentences import SentenceTable, Value

REFUSALS = SentenceTable("refusal")

IF_DAMAGED = (
    "Stop the companion, then run `engram repair`: it goes back to the newest daily backup and "
    "keeps this file. Do not delete it: what boards gave to the archive since then is nowhere "
    "else. What they still have they send again."
)

IF_POSTGRES_DAMAGED = (
    "Stop all companions on it, then put a backup back, or let PostgreSQL's own tools "
    "(pg_amcheck, pg_dump) find and save what can be read. Do not delete it: what boards gave to "
    "the archive is nowhere else. What they still have they send again."
)


class CompanionError(Exception):
    """Base class of all errors that the companion raises on purpose."""

    @property
    def sentence(self) -> str:
        """The text: a Sentence if the page can translate it."""
        return self.args[0] if self.args else ""


class SettingError(CompanionError):
    """Invalid setting; `name` is its dotted name."""

    def __init__(self, name: str, problem: str):
        super().__init__(f"{name}: {problem}")
        self.name = name


class Refused(CompanionError):
    def __init__(self, why: str, again: int = 60):
        super().__init__(why)
        self.again = again


class Stale(CompanionError):
    """Late or repeated message, to be ignored."""


class BadSearch(CompanionError):
    def __init__(self, name: str, problem: str):
        super().__init__(f"{name} {problem}.")
        self.name = name


class Missing(CompanionError):
    """A thing that a request names is missing; `kind` is its sentence in REFUSALS."""

    kind = ""

    def __init__(self, name: str, **values: Value):
        super().__init__(REFUSALS.say(self.kind, name=name[:60], **values))
        self.name = name


class UnknownDevice(Missing):
    kind = "no_board"


class UnknownSense(Missing):
    kind = "no_sense"


class NoSuchFile(Missing):
    """No file of this name is in a Markdown folder that the caller may see."""

    kind = "no_file"


class UnknownConversation(Missing):
    kind = "no_message"


class UnknownEntry(Missing):
    kind = "not_copied"


class UnknownImport(Missing):
    kind = "no_import"


class UnknownMedia(Missing):
    kind = "no_media"


class FileUnreadable(CompanionError):
    def __init__(self, name: str, problem: str):
        super().__init__(f"{name} {problem}.")


class MessageIdTaken(CompanionError):
    def __init__(self, mid: str):
        super().__init__(REFUSALS.say("id_taken", id=mid[:60]))
        self.id = mid


class TooManyWaiting(CompanionError):
    """Too many messages wait for the board, of all people or of one."""


class MemoryNotChangeable(CompanionError):
    def __init__(self, entry: str, kind: str):
        super().__init__(REFUSALS.say(kind, entry=entry))
        self.id = entry


class ImportRefused(CompanionError):
    """An import cannot be created, started or ended now."""


class MediaRefused(CompanionError):
    def __init__(self, kind: str, **values: Value):
        super().__init__(REFUSALS.say(kind, **values))


class StoreUnavailable(CompanionError):
    """The database is unavailable; `public` is the text for everybody but the operator."""

    kind = "store_down"

    @property
    def public(self) -> str:
        return REFUSALS.say(self.kind)


class StoreBusy(StoreUnavailable):
    """Another process holds a lock for longer than a call waits."""


class StoreFull(StoreUnavailable):
    kind = "store_full"


class StoreDamaged(StoreUnavailable):
    def __init__(self, what: str, advice: str = IF_DAMAGED):
        super().__init__(f"{what}. {advice}")


class EmbedderError(CompanionError):
    """No vector could be computed."""


class EmbedderUnavailable(EmbedderError):
    """The embedder timed out or is overloaded; retrying may help."""


class EmbedderRefused(EmbedderError):
    """The embedder refused the request; retrying it unchanged does not help."""

    def __init__(self, problem: str, status: int = 0):
        super().__init__(problem)
        self.status = status
