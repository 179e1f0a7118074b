"""Turns in a store, as the evaluation needs them: taken in, and searched. Lines mean what they mean in the journal."""

from engram import text
from engram.clock import Clock
from engram.memory import line_meaning
from engram.memory.journal import schema
from engram.store.log.segments import Log
from engram.store.store import Store
from engram.store.types import Query

CAP = 2 << 20


class Turns:
    """The turns of one conversation, in a folder."""

    def __init__(self, folder):
        self._store = Store(Log(folder, "journal", cap=CAP), schema.TurnSchema(Clock(), 0))
        self._store.open()

    def add(self, session, at, who, content, caption):
        """Append a turn; its id."""
        line = [("sid", "s%d" % session), ("role", "user"), ("who", who), ("text", content), ("at", at)]
        if caption:
            line.append(("caption", caption))
        return self._store.append(line)

    def rest(self):
        """Let the work in the background end, as it does between messages."""
        while self._store.tick():
            pass

    @property
    def partial(self):
        """Why a search may miss something, "" if it does not."""
        return self._store.partial

    def search(self, query, limit):
        """Yield the ids of what fits a query, best first."""
        speaker = line_meaning.named_speaker(query, self._store.names("%"), lambda label: True)
        for hit in self._store.search(Query(text.terms(query), (), (), 0, 0, speaker, None), limit):
            yield hit.number
