"""Gives memories and turns that have no room to the companion, once it has promised to keep them, and gets them back.

    keep      the lines of some memories, by their seqs, and the digest over them        kept: how many
    check     a span of the journal's oldest segment                                     same, differs
    holds     the ids of the archive, where the companion has less or asks               kept: how many
    get       one memory or turn by its id                                               got: its line, in parts

docs/guides/archive.md has the order of the steps.
"""

from binascii import crc32

from engram import diag, log_line
from engram.clock import Timeout
from engram.compat import sleep_ms
from engram.errors import ArgumentError, NetError, StoreError
from engram.link.messages import caller_fields, shown
from engram.link.rpc import NoAnswer
from engram.memory import access, ids
from engram.memory.records import fields
from engram.store.types import LIVE

_AT_ONCE = const(8)  # memories of one promise, which leave with one flush
_MOST_AT_ONCE = const(64)
_SPAN = const(4096)  # bytes of lines that are compared at once
_PAUSE_MS = const(60_000)  # after the companion refused something
_DIFFERS = const("the companion has other %s than the board wants to archive; both are compared again.")


class ArchiveTransfer:
    """A mover of memories and turns to the companion and back; unread turns stay."""

    def __init__(self, exchange, sync, link_state, archived, records, journal, within_ms: int, is_unread=None):
        self._exchange = exchange
        self._sync = sync
        self._link_state = link_state
        self._archived = archived
        self._records = records
        self._journal = journal
        self._eviction = records.eviction
        self._within_ms = within_ms
        self._is_unread = is_unread
        self._records_raw, self._journal_raw = records.entries.raw(), journal.entries.raw()
        self._pause = Timeout()
        self.is_greeted = False
        self._is_counted = True  # True once the companion's count was compared in step
        self._has_to_tell = False
        self._told_for = None  # how many each side had, after which nothing more could be done
        self.why = ""

    # --- for the eviction

    def is_open(self) -> bool:
        return self.is_greeted and not self._exchange.failure and self._pause.is_over

    def is_settled(self) -> bool:
        return self._archived.is_settled

    def _wait(self, why: str) -> None:
        self.why = why
        self._pause.begin(_PAUSE_MS)
        diag.warning("archive", why)

    # --- for the link

    def greeted(self, held: int, asks: bool) -> None:
        """Handle the companion's count of archived memories, and its request for the known ones."""
        self.is_greeted = True
        self._is_counted = self._sync.is_done("records")
        if not self._is_counted:
            return
        if asks or (held < self._archived.total and self._told_for != (held, self._archived.total)):
            self._has_to_tell = True
        else:
            self._archived.compare_held(held)

    async def _tell(self) -> None:
        self._has_to_tell = False
        held = self._archived.held
        epoch = self._records_raw.store.epoch
        answer = await self._ask("holds", epoch=epoch, first=held.first, last=held.last)
        self._told_for = answer["count"], self._archived.total
        self._archived.compare_held(answer["count"])

    async def step(self) -> bool:
        """Do a slice of work once the logs are copied; True if there was any."""
        if not self._pause.is_over:
            return False
        surplus = self._journal.surplus()
        if not self._is_counted:
            self._is_counted = True
            self._sync.greet_again()
        elif self._has_to_tell:
            await self._tell()
        elif self._eviction.wanted > 0:
            await self._archive()
        elif surplus and not (self._is_unread and self._is_unread(surplus)):
            await self._archive_turns(surplus)
        else:
            return await self._bring_back()
        return True

    async def _ask(self, op: str, **told) -> dict:
        try:
            return await self._sync.ask(op, **told)
        except NetError as error:
            self._wait("the archive waits: %s" % error)
            raise

    # --- memories

    async def _archive(self) -> None:
        eviction, store = self._eviction, self._records_raw.store
        try:
            weakest = []
            for found in eviction.least_important(min(eviction.wanted, _MOST_AT_ONCE)):
                weakest = found or weakest
                await sleep_ms(0)
            while weakest and eviction.wanted > 0 and not store.is_compacting and self._pause.is_over:
                some = weakest[:_AT_ONCE]
                weakest = weakest[_AT_ONCE:]
                count = archive(self._records, await self._promised(some))
                eviction.note_archived(len(some), count)
                if count:
                    diag.info("archive", "%d memories are with the companion" % count)
            if not weakest:
                eviction.wanted = 0
            if self._pause.is_over:
                self.why = ""
        except StoreError as error:
            self._wait(str(error))

    async def _promised(self, numbers: list) -> list:
        raw, have = self._records_raw, self._link_state.have("records")
        named, digest = [], 0
        for number in numbers:
            record = self._records.entries.get(number)
            crc = raw.crc(record["seq"]) if record else ""
            if crc and record["seq"] <= have:
                named.append((number, record["seq"]))
                digest = crc32(crc.encode(), digest)
        if not named:
            return []
        seqs = [seq for _, seq in named]
        answer = await self._ask("keep", log="records", epoch=raw.store.epoch, seqs=seqs, digest=shown(digest))
        if answer["count"] == len(named):
            return named
        self._wait(_DIFFERS % "lines")
        self._sync.compare("records")
        return []

    async def _bring_back(self) -> bool:
        wanted = self._archived.pop_often_used() if self._eviction.spare else None
        if wanted is None:
            return False
        number, caller = wanted
        try:
            line = await self.line("m%d" % number, caller)
            if line and restore(self._records, self._archived, line, caller):
                diag.info("archive", "m%d is back from the companion" % number)
        except (StoreError, NoAnswer) as error:
            diag.info("archive", "m%d did not come back: %s" % (number, error))
        return True

    # --- turns

    async def _archive_turns(self, last: int) -> None:
        raw = self._journal_raw
        after = raw.store.oldest - 1
        while after < last:
            if raw.store.is_compacting or raw.store.oldest > after + 1:
                return
            span = raw.span(after, last, _SPAN)
            told = {"log": "journal", "epoch": raw.store.epoch, "after": after, "to": span.to, "count": span.count}
            answer = await self._ask("check", digest=shown(span.check), **told)
            if answer["op"] != "same":
                self._wait(_DIFFERS % "turns")
                self._sync.compare("journal")
                return
            after = max(after + 1, span.to)
            await sleep_ms(0)
        if self._journal.archive(last):
            diag.info("archive", "turns up to t%d are with the companion" % last)

    # --- reading what left

    @property
    def missed(self) -> int:
        """Return the seq up to which the companion may lack turns, 0 if it has all."""
        return self._link_state.missed

    def may_be_archived(self, ref: str, caller) -> bool:
        """True if a memory or turn may be with the companion; see `missed`."""
        kind, number = _parse_ref(ref)
        if kind == "t":
            return 0 < number < self._journal_raw.store.oldest
        return self._archived.may_be_archived(number, caller)

    async def line(self, ref: str, caller):
        """Return an archived memory or turn as a dict, None if the caller may see none; NetError."""
        ref = "%s%d" % _parse_ref(ref)
        answer = await self._exchange.ask_in_time("get", self._within_ms, id=ref, **caller_fields(caller))
        return self._checked(ref, answer["body"].encode(), caller)

    def _checked(self, ref: str, line: bytes, caller):
        """Return the line as a dict if it is the requested one, undamaged and visible to the caller."""
        if not line or not self.may_be_archived(ref, caller) or not log_line.check(line):
            return None
        found = log_line.decode(line)
        has_name = found.get("id") == ref if ref[0] == "m" else found.get("seq") == int(ref[1:])
        if not has_name or not ("text" in found or "content" in found):
            return None
        return found if access.is_shown(caller, found) else None

    async def fetched(self, ref: str, caller) -> tuple:
        kind, number = _parse_ref(ref)
        where = "%s %s with the companion" % (ref, "may be" if kind == "t" and number <= self.missed else "is")
        try:
            found = await self.line(ref, caller)
        except (NetError, ArgumentError) as error:
            return None, "%s: %s." % (where, error)
        if found and kind == "m":
            self._archived.add_use(number, caller)
        return found, "" if found else "the companion has no %s that may be shown." % ref

    def status(self) -> str:
        total = self._archived.total
        parts = ["memories: %d" % total] if total else []
        oldest = self._journal_raw.store.oldest
        if oldest > self.missed + 1:
            left = "turns t%d to t%d" % (self.missed + 1, oldest - 1) if self.missed else "turns before t%d" % oldest
            first = next(self._journal.later(oldest - 1), None)
            parts.append("%s, until %s" % (left, self._records.clock.day(first["at"])) if first else left)
        return " and ".join(parts)


def archive(records, promised) -> int:
    """Archive (number, seq) pairs unless changed, pinned or forgotten since; return their count."""
    lines = []
    for number, seq in promised:
        record = records.entries.get(number)
        if record is None or record["seq"] != seq or record.get("pinned") or records.entries.state(number) != LIVE:
            continue
        lines.append(records.tombstone("archive", record, records.lineage(record)[0]))
    if lines:
        records.entries.append(*lines, urgent=True)
    return len(lines)


def restore(records, archived, line: dict, caller) -> bool:
    """Restore an archived record with its id; False if it is live or not visible; StoreFull."""
    number = ids.number("id", line.get("id"), "m")
    if "content" not in line or not archived.may_be_archived(number, caller):
        return False
    records.check_room()
    kept = [pair for pair in fields.pairs(line) if pair[0] not in ("supersedes", "past")]
    records.entries.append(kept + [("restored", records.clock.now())])
    records.used(line["id"])
    return True


def _parse_ref(ref: str) -> tuple:
    kind = "t" if ref.strip()[:1].lower() == "t" else "m"
    return kind, ids.number("id", ref, kind)
