"""Every error that the companion raises on purpose, in one tree.

    CompanionError
      SettingError       a setting is wrong (name)
      Refused            a board's message is not taken; the answer says why, and when to try again (again)
      Stale              a message that came late or twice: it is passed over
      BadSearch          a search asks for something that has no sense (name)
      UnknownDevice      no board of that name has ever been here (name)
      NoSuchFile         no file of that name is in a Markdown folder (name)
      FileUnreadable     there is one, and it cannot be shown (name)
      UnknownConversation   nobody has said a message of that id to a board (id)
      MessageIdTaken     another message to a board has that id (id)
      TooManyWaiting     so many messages wait for a board that it is given no more
      UnknownEntry       a board's copy has no memory or turn of that id (id)
      MemoryNotChangeable   a memory, or a change of it, is in a state in which it is not changed or undone (id)
      UnknownImport      no import of that id is kept (id)
      ImportRefused      an import cannot be made, started or ended now
      StoreUnavailable   the database cannot be read or written now: nothing was acknowledged
        StoreFull        its disk is full
        StoreDamaged     its pages are damaged: nothing is written any more
      RefusedByService   a remote service said no (status): EmbedderRefused and RerankerError are such
      EmbedderError      no vector was made
        EmbedderUnavailable   trying later may help
        EmbedderRefused       it does not: a key, a model's name, a size (status)
      RerankerError      a search was not reranked (status)
      ExpansionError     a query got no other wordings
      GatewayRefused     the gateway does not do what it is asked (status, code, headers); stands in gateway/errors.py

str(error) is one sentence for a person: what is wrong, and what to do.
"""

IF_DAMAGED = (
    "Stop the companion; then `engram restore` puts a backup back, or `engram repair` saves what can be read. Keep it until "
    "then: what boards gave to the archive is nowhere else. What they still have they send again."
)
"""What to do about a damaged database."""

IF_POSTGRES_DAMAGED = (
    "Stop all companions on it; then `engram restore` puts a backup back, or PostgreSQL's own tools (pg_amcheck, pg_dump) find "
    "and save what can be read. Keep it until then: what boards gave to the archive is nowhere else. What they still have they "
    "send again."
)
"""What to do about a damaged database of PostgreSQL, which `engram repair` does not know."""


class CompanionError(Exception):
    """Base of all errors that the companion raises on purpose."""


class SettingError(CompanionError):
    """A setting is wrong; `name` is its dotted name."""

    def __init__(self, name: str, problem: str):
        super().__init__(f"{name}: {problem}")
        self.name = name


class Refused(CompanionError):
    """A message is not taken. `again` is after how many seconds to try once more, 0 if at once, with a new hello."""

    def __init__(self, why: str, again: int = 60):
        super().__init__(why)
        self.again = again


class Stale(CompanionError):
    """A message that came late or twice; what it said is known, or holds no more."""


class BadSearch(CompanionError):
    """A search asks for something that has no sense; `name` is the option's name."""

    def __init__(self, name: str, problem: str):
        super().__init__(f"{name} {problem}.")
        self.name = name


class UnknownDevice(CompanionError):
    """No board of that name has ever been here."""

    def __init__(self, name: str):
        super().__init__(
            f"no board named {name} has connected; `engram device list` and GET /v1/devices list the boards."
        )
        self.name = name


class NoSuchFile(CompanionError):
    """No file of that name is in a Markdown folder that the one who asks may see."""

    def __init__(self, name: str):
        super().__init__(
            "no such file in the folders that you may see; `engram folders` and GET /v1/folders list them."
        )
        self.name = name


class FileUnreadable(CompanionError):
    """A file of a Markdown folder is not read: too large, no text, or not ours to read."""

    def __init__(self, name: str, problem: str):
        super().__init__(f"{name} {problem}.")
        self.name = name


class UnknownConversation(CompanionError):
    """Nobody has said a message of that id to a board, or it is kept no more."""

    def __init__(self, mid: str):
        super().__init__(
            f"there is no message {mid[:60]} to this board, or it was answered so long ago that it has gone."
        )
        self.id = mid


class MessageIdTaken(CompanionError):
    """Another message to a board has the id of this one."""

    def __init__(self, mid: str):
        super().__init__(f"the id {mid[:60]} is that of another message to this board: give each one an id of its own.")
        self.id = mid


class TooManyWaiting(CompanionError):
    """So many messages wait for a board, of all people or of one, that no more are taken for it."""


class UnknownEntry(CompanionError):
    """A board's copy has no memory or turn of that id."""

    def __init__(self, entry_id: str, problem: str):
        super().__init__(f"{entry_id[:20]} {problem}")
        self.id = entry_id


class MemoryNotChangeable(CompanionError):
    """A memory is in a state in which it is not changed, or a change of it is not undone."""

    def __init__(self, entry: str, problem: str):
        super().__init__(f"{entry} {problem}")
        self.id = entry


class UnknownImport(CompanionError):
    """There is no import of that id, or it was removed after some days."""

    def __init__(self, import_id: str):
        super().__init__(f"there is no import {import_id[:20]}: it was discarded, or is so old that it has gone.")
        self.id = import_id


class ImportRefused(CompanionError):
    """An import cannot be made, started or ended now."""


class StoreUnavailable(CompanionError):
    """The database cannot be read or written now; nothing that was acknowledged is lost by it.

    Its text may name the database's host or path, which are the operator's. `public` is for everybody else.
    """

    public = "the companion cannot use its database now; its log says why."


class StoreFull(StoreUnavailable):
    """The database's disk is full."""

    public = "the disk of the companion's database is full."


class StoreDamaged(StoreUnavailable):
    """Pages of the database are damaged. `what` names it, with what was found, and `advice` says what to do."""

    def __init__(self, what: str, advice: str = IF_DAMAGED):
        super().__init__(f"{what}. {advice}")


class EmbedderError(CompanionError):
    """No vector was made."""


class EmbedderUnavailable(EmbedderError):
    """The embedder did not answer in time, or is overloaded: trying later may help."""


class RefusedByService(CompanionError):
    """A remote service said no, with an HTTP status if it gave one: trying again unchanged does not help."""

    def __init__(self, problem: str, status: int = 0):
        super().__init__(problem)
        self.status = status


class EmbedderRefused(RefusedByService, EmbedderError):
    """The embedder said no, with an HTTP status if it is a remote one: trying again unchanged does not help."""


class RerankerError(RefusedByService):
    """A search was not reranked, with an HTTP status if the service gave one: its own order stands."""


class ExpansionError(CompanionError):
    """A query got no other wordings from the model: it is searched as it is."""
