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

REFUSALS = SentenceTable(
    "refusal",
    {
        "no_board": "no board named {name} has connected; `engram device list` and GET /v1/devices list the boards.",
        "no_sense": "the board has no sense named {name}; GET /v1/boards/BOARD/senses lists them.",
        "no_file": "no such file in the folders that you may see; GET /v1/folders lists them.",
        "no_message": "there is no message {name} to this board, or it was answered so long ago that it has gone.",
        "id_taken": "the id {id} is that of another message to this board: give each one an id of its own.",
        "many_waiting": "{count} messages wait for {board} already: wait until it has answered some.",
        "many_of_one": "{count} messages of {principal} wait for {board} already: wait until it has answered some.",
        "many_merges": "{count} merges are under way: wait until some have ended.",
        "not_copied": "{name} is not in the copy of {board}, or was forgotten.",
        "same_memory": "{entry} is the same memory: name another one.",
        "changed": "{entry} was changed since you read it: look at it again.",
        "superseded": "{entry} is superseded: only a memory that its board has, and that nothing replaced, can be changed.",
        "expired": "{entry} is expired: only a memory that its board has, and that nothing replaced, can be changed.",
        "archived": "{entry} is archived: only a memory that its board has, and that nothing replaced, can be changed.",
        "live": "{entry} is live: only a memory that its board has, and that nothing replaced, can be changed.",
        "is_changing": "{entry} is about to be changed: another change of it waits for the board; cancel that one first.",
        "not_undoable": "{entry} has a later change, or the board has not made this one: the latest change that it has made "
        "is undone first.",
        "other_scope": "{entry} is for other people than the memory that stays: a merge would show its text to these.",
        "overtaken": "{entry} was changed on the board after this change: its history has that, and undoes it first.",
        "newest_not_undoable": "{entry} has no change of the board's own to undo: another one waits or is undone by its name, "
        "or an undo made its text.",
        "no_import": "there is no import {name}: it was discarded, or is so old that it has gone.",
        "import_long": "the file has more than {most} lines: split it, or use `engram import FILE --port PORT`.",
        "import_large": "the file has {bytes} bytes, at most {most} are taken: split it, or use `engram import`.",
        "import_empty": "the file has nothing to import: see docs/guides/moving.md for what is read.",
        "import_unkept": "the file cannot be kept in the companion's folder: {problem}.",
        "import_runs": "another import into {board} is running: wait for its end, or cancel it.",
        "imports_run": "{count} imports are running: wait for the end of one.",
        "no_media": "there is no photo or sound {name}: it was forgotten, or newer ones took its room.",
        "media_off": "this companion keeps no photos and sounds: media.board_count in companion.toml is 0.",
        "media_large": "it has more than {most} bytes, as many as media.megabytes in companion.toml takes: make it smaller.",
        "media_type": "its bytes are of no type that is taken ({types}); media.types in companion.toml names these.",
        "media_unkept": "it cannot be kept in the companion's folder: {problem}.",
        "media_lost": "the file of {id} is missing or damaged in the companion's folder media: put it back from a backup, or "
        "delete it.",
        "store_down": "the companion cannot use its database now; its log says why.",
        "store_full": "the disk of the companion's database is full.",
    },
)

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

    public = REFUSALS.say("store_down")


class StoreBusy(StoreUnavailable):
    """Another process holds a lock for longer than a call waits."""


class StoreFull(StoreUnavailable):
    public = REFUSALS.say("store_full")


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
