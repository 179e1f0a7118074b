"""The number of memories that the board gave to a companion, and the ids between which they are.

The records' log counts them by its lines with `archive`, `restored` and `scopes` (memory/records/schema.py). What else is
known of an archived memory is in these lines until a compaction, then with the companion alone.
"""

from engram import diag
from engram.errors import NotFound
from engram.memory import access, ids
from engram.memory.records.schema import Archived, is_about_archive
from engram.store.types import ARCHIVED

_MOST_SHOWN = const(32)  # memories with known viewers: bounds the heap


class ArchiveIndex:
    """An index of archived records; `schema` counts them, `link_state` has the acknowledged seqs."""

    uses_wanted = 3
    """Uses after which a memory is restored."""

    def __init__(self, store, schema, clock, link_state=None):
        self._store = store
        self._schema = schema
        self._clock = clock
        self._link_state = link_state
        self._shown = []  # [number, how often, latest caller], oldest first
        self._relied = 0  # a compaction relies on what the companion has of the archive up to this line
        self.lost = 0

    @property
    def held(self) -> Archived:
        self._store.ready()
        return self._schema.archived

    @property
    def total(self) -> int:
        return self.held.count

    def may_be_archived(self, number: int, caller) -> bool:
        """True if the companion may have a record that the board lacks and the caller may see."""
        held = self.held
        if not (held.count and held.first <= number <= held.last):
            return False
        state, line = self._store.state_and_latest(number)
        if state == ARCHIVED and line and "content" in line:
            return access.may_see_line(caller, line)
        return state == ARCHIVED or (state is None and not self._is_forgotten(number))

    def _is_forgotten(self, number: int) -> bool:
        lines = (self._store.line(seq) for seq in self._store.seqs_with_label("=%d" % number))
        return any(line and line.get("op") == "forget" for line in lines)

    def compare_held(self, held: int) -> None:
        """Compare with the companion's count; if that is higher, the index was lost."""
        total = self.total
        lost = max(0, total - held)
        if lost and lost != self.lost:
            diag.error("archive", "the companion has lost %d archived memories: was its database replaced?" % lost)
        self.lost = lost
        if held > total:
            self._schema.archived = Archived(self._schema.archived.seq, held, 1, self._store.next_seq - 1)

    # --- uses

    def add_use(self, number: int, caller) -> None:
        for use in self._shown:
            if use[0] == number:
                use[1] += 1
                use[2] = caller
                return
        if len(self._shown) >= _MOST_SHOWN:
            counts = [use[1] for use in self._shown]
            del self._shown[counts.index(min(counts))]
        self._shown.append([number, 1, caller])

    def pop_often_used(self):
        """Return and remove (number, latest caller) of a memory used often enough to restore, or None."""
        for at, (number, count, caller) in enumerate(self._shown):
            if count >= self.uses_wanted:
                del self._shown[at]
                return number, caller
        return None

    # --- forgetting

    def forget(self, ref: str, caller) -> dict:
        """Forget an archived memory on both sides and return its details; NotFound."""
        number = ids.number("id", ref, "m")
        state, record = self._store.state_and_latest(number)
        if state != ARCHIVED or not record or "content" not in record:
            labels = access.labels(caller)
            if not any(use[0] == number and access.labels(use[2]) == labels for use in self._shown):
                # The companion alone knows who may see it.
                advice = "it may be with the companion: show it first (/memory show), then forget it."
                raise NotFound("memory", ref, advice)
            record = {"id": "m%d" % number, "content": "(its text is with the companion)"}
        scopes = [label[1:] for label in access.labels(caller)]
        tombstone = [("op", "forget"), ("id", record["id"]), ("at", self._clock.now()), ("scopes", scopes)]
        self._store.append(tombstone, urgent=True)
        return dict(record, archived=True)

    # --- compaction

    @property
    def is_settled(self) -> bool:
        return self._schema.archived.seq <= self._acknowledged()

    def _acknowledged(self) -> int:
        return self._link_state.have("records") if self._link_state else 0

    def needs(self, line: dict, is_archived: bool) -> bool:
        """True if a compaction must keep a line; `is_archived` is the state of its record."""
        if "back" in line:
            # The companion may not have heard that it came back: it has the memory in the archive still.
            return line["seq"] > self._acknowledged()
        # The companion's promise holds once it has heard that the record is archived.
        return self._schema.archived.seq > self._relied and (is_archived or is_about_archive(line))

    def mark_durable(self) -> None:
        """Note, before a compaction, the acknowledged line of the archive: older lines may go."""
        if self._link_state:
            self._link_state.save()
        self._relied = self.durable_seq

    @property
    def durable_seq(self) -> int:
        """Return the line noted by mark_durable(); a companion below it has lost some."""
        return min(self._link_state.noted("records"), self._schema.archived.seq) if self._link_state else 0
