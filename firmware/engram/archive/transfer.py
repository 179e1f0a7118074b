"""Gives memories and turns that have no room to the companion, once it has promised to keep them, and gets them back.

    keep      the lines of some memories, by their seqs, and the digest over them        kept: how many
    check     a span of the journal's oldest segment                                     same, differs
    holds     what the archive index has, where the companion has less or asks           kept: how many
    list      which memories are archived, where it has more: see remaking.py            listed
    get       one memory or turn by its id                                               got: its line, in parts

What happens on the board in between is told in docs/archive.md, with what a cut behind each step leaves.
"""

import asyncio
from binascii import crc32

from engram import diag, log_line
from engram.archive.archiver import archive, is_away, restore
from engram.archive.index import MOST_ENTRIES, SEVERAL
from engram.compat import const, sleep_ms, ticks_add, ticks_diff, ticks_ms, unload_modules, wait_for_ms
from engram.errors import ArgumentError, StoreError
from engram.link.messages import shown
from engram.link.rpc import LinkError
from engram.memory import ALL, access, ids

_AT_ONCE = const(8)  # memories of one promise, which leave with one flush
_MOST_AT_ONCE = const(64)
_SPAN = const(4096)  # bytes of lines that are compared at once
_MOST_PARTS = const(32)  # of the longest line, in which each piece may be escaped
_ANSWER_MS = const(20_000)
_REST_MS = const(60_000)  # after the companion did not take what it was to take
_MODULES = ("engram.memory.records.eviction_order",)


class ArchiveTransfer:
    """The way of one board's memories to its companion and back; `parts` has archived, records, journal, capacity, agent and
    learning, `sync` copies the logs.
    """

    def __init__(self, exchange, sync, known, logs, parts, within_ms: int):
        self._exchange = exchange
        self._sync = sync
        self._known = known
        self._records_raw, self._journal_raw = (raw for _, raw in logs)
        self._parts = parts
        self._within_ms = within_ms
        self._rests_until = None
        self.is_greeted = False
        self._is_counted = True  # whether the companion told how many it holds when both were in step
        self._has_to_tell = False  # whether the companion is to be told what the index has
        self._has_to_remake = False  # whether the index is to be made anew from what the companion has
        self._held = 0  # how many the companion has
        self._done_for = None  # how many each side counted, after which nothing more could be done
        self.why = ""
        """Why nothing more was archived, "" if it was."""
        parts.capacity.archive = self
        parts.archived.acknowledged = lambda: sync.have("records")

    # --- for the capacity

    def is_open(self) -> bool:
        """Whether memories can be given to the companion now."""
        return self.is_greeted and not self._exchange.failure and not self._is_resting()

    def is_settled(self) -> bool:
        """Whether the companion has been told of all that was archived."""
        return self._parts.records.entries.owner.archived <= self._sync.have("records")

    def _is_resting(self) -> bool:
        if self._rests_until is None:
            return False
        if ticks_diff(self._rests_until, ticks_ms()) > 0:
            return True
        self._rests_until = None
        return False

    def _rest(self, why: str) -> None:
        self.why = why
        self._rests_until = ticks_add(ticks_ms(), _REST_MS)
        diag.warning("archive", why)

    # --- for the link

    def greeted(self, held: int, asks: bool) -> None:
        """Take how many archived memories the companion says that it holds, and whether it asks which the board knows of; both
        sides may have to be brought in step yet.
        """
        self.is_greeted = True
        self._is_counted = self._sync.is_done("records")
        if not self._is_counted:
            return
        total = self._parts.archived.total
        if asks or (held < total and self._done_for != (held, total)):
            self._has_to_tell = True
        else:
            self._count(held)

    def _count(self, held: int) -> None:
        """Compare how many archived memories the companion holds with how many the index has."""
        archived = self._parts.archived
        self._held = held
        lost = max(0, archived.total - held)
        if lost and lost != archived.lost:
            diag.error("archive", "the companion has lost %d archived memories: was its database replaced?" % lost)
        archived.lost = lost
        self._has_to_remake = held > archived.total and self._done_for != (held, archived.total)

    async def _tell(self) -> None:
        """Tell the companion what the index has: it looks whether it has more of that than it thought."""
        self._has_to_tell = False
        archived = self._parts.archived
        entries = [[entry["scope"], entry["first"], entry["last"]] for entry in archived.entries()]
        if archived.damage:
            # What is missing in it is no proof that it was forgotten.
            entries = [[SEVERAL, 1, self._records_raw.next_seq]]
        answer = await self._ask("holds", epoch=self._records_raw.epoch, entries=entries)
        self._done_for = (answer["count"], archived.total) if answer["count"] < archived.total else None
        self._count(answer["count"])

    async def _remake(self) -> None:
        """Make the index anew, since the companion has more than it says."""
        from engram.archive.rebuild import rebuild_index

        self._has_to_remake = False
        archived = self._parts.archived
        before = archived.total
        try:
            if not await rebuild_index(self._ask, archived, self._records_raw):
                self._is_counted = False  # something was archived meanwhile: it is begun again
                return
            self._done_for = (self._held, archived.total)
            diag.warning(
                "archive", "the index was made anew: it has %d memories, and had %d" % (archived.total, before)
            )
        except StoreError as error:
            self._rest("the archive's index cannot be made anew: %s" % error)
            self._is_counted = False
        finally:
            unload_modules(("engram.archive.rebuild",))

    async def step(self) -> bool:
        """Do a little of what is to be done, when all is copied; whether there was anything."""
        if self._is_resting():
            return False
        if not self._is_counted:
            self._is_counted = True
            self._sync.greet_again()
        elif self._has_to_tell:
            await self._tell()
        elif self._has_to_remake:
            await self._remake()
        elif self._parts.capacity.wanted > 0:
            await self._archive()
        elif self._journal_surplus():
            await self._archive_turns(self._journal_surplus())
        else:
            return await self._bring_back()
        return True

    async def _ask(self, op: str, **fields) -> dict:
        try:
            return await self._sync.ask(op, **fields)
        except LinkError as error:
            self._rest("the archive waits: %s" % error)
            raise

    # --- memories

    async def _archive(self) -> None:
        """Give the least important memories to the companion, as many as are wanted."""
        capacity = self._parts.capacity
        try:
            weakest = await self._weakest(min(capacity.wanted, _MOST_AT_ONCE))
            while weakest and capacity.wanted > 0 and not (self._records_raw.is_changing or self._is_resting()):
                some = [number for _, _, number in weakest[:_AT_ONCE]]
                weakest = weakest[_AT_ONCE:]
                went = archive(self._parts.records, self._parts.archived, await self._promised(some))
                capacity.archived += went
                capacity.wanted = max(0, capacity.wanted - len(some))
                if went:
                    diag.info("archive", "%d memories are with the companion" % went)
            if not weakest:
                capacity.wanted = 0
            if not self._is_resting():
                self.why = ""
        except StoreError as error:
            self._rest(str(error))
        finally:
            unload_modules(_MODULES)

    async def _weakest(self, count: int) -> list:
        from engram.memory.records.eviction_order import least_important

        found = []

        def work():
            found.extend((yield from least_important(self._parts.records, count)))

        for _ in work():
            await sleep_ms(0)
        return found

    async def _promised(self, numbers: list) -> list:
        """(number, seq) of those of some records that the companion has promised to keep."""
        entries = self._parts.records.entries
        named, digest = [], 0
        scopes = self._parts.archived.scopes()
        for number in numbers:
            record = entries.get(number)
            told = record.get("scope", ALL) if record else ALL
            if told not in scopes and len(scopes) >= MOST_ENTRIES:
                # Without an entry of its scope nobody could be shown it.
                self.why = "the archive takes memories of %d people and workspaces, and no more." % MOST_ENTRIES
                continue
            scopes.add(told)
            crc = self._records_raw.crc(record["seq"]) if record else ""
            if crc and record["seq"] <= self._sync.have("records"):
                named.append((number, record["seq"]))
                digest = crc32(crc.encode(), digest)
        if not named:
            return []
        seqs = [seq for _, seq in named]
        epoch = self._records_raw.epoch
        answer = await self._ask("keep", log="records", epoch=epoch, seqs=seqs, digest=shown(digest))
        if answer["count"] == len(named):
            return named
        self._rest("the companion has other lines than the board wants to archive; both are compared anew.")
        self._sync.compare("records")
        return []

    async def _bring_back(self) -> bool:
        """Bring a memory back that was used often; whether there was one."""
        if not self._parts.capacity.spare:
            return False
        wanted = self._parts.archived.wanted_back()
        if wanted is None:
            return False
        number, caller = wanted
        try:
            line = await self.line("m%d" % number, caller)
            if line and restore(self._parts.records, self._parts.archived, line, caller):
                diag.info("archive", "m%d is back from the companion" % number)
        except (StoreError, asyncio.TimeoutError) as error:
            diag.info("archive", "m%d did not come back: %s" % (number, error))
        return True

    # --- turns

    def _journal_surplus(self) -> int:
        """The seq up to which turns are to leave, 0 if none are: not those that are still to be read for facts."""
        last = self._parts.journal.surplus()
        agent = self._parts.agent
        return 0 if last and agent.after and last > self._parts.learning.until else last

    async def _archive_turns(self, last: int) -> None:
        raw = self._journal_raw
        after = raw.oldest - 1
        while after < last:
            if raw.is_changing or raw.oldest > after + 1:
                return
            span = raw.span(after, last, _SPAN)
            fields = {"log": "journal", "epoch": raw.epoch, "after": after, "to": span.to, "count": span.count}
            answer = await self._ask("check", digest=shown(span.check), **fields)
            if answer["op"] != "same":
                self._rest("the companion has other turns than the board wants to archive; both are compared anew.")
                self._sync.compare("journal")
                return
            after = max(after + 1, span.to)
            await sleep_ms(0)
        if self._parts.journal.archive(last):
            diag.info("archive", "turns up to t%d are with the companion" % last)

    # --- getting one

    @property
    def missed(self) -> int:
        """The seq up to which turns left that the companion may not have, 0 if it has all."""
        return self._known.missed

    def is_away(self, ref: str, caller) -> bool:
        """Whether a memory or turn has left, for the companion as far as is known here; see `missed`."""
        kind = "t" if ref.strip()[:1].lower() == "t" else "m"
        number = ids.number("id", ref, kind)
        if kind == "t":
            return 0 < number < self._journal_raw.oldest
        return is_away(self._parts.records, self._parts.archived, number, caller)

    async def line(self, ref: str, caller):
        """A memory or turn that has left the board, as a dict; None if there is none that the caller may see.

        LinkError, asyncio.TimeoutError.
        """
        kind = "t" if ref.strip()[:1].lower() == "t" else "m"
        ref = "%s%d" % (kind, ids.number("id", ref, kind))
        pieces = []

        def collect(head) -> bool:
            if head["part"] == len(pieces) + 1 and head["part"] <= _MOST_PARTS:
                pieces.append(head["text"])
            return len(pieces) >= head["parts"]

        asked = self._exchange.ask(
            "get",
            _ANSWER_MS,
            None,
            collect,
            id=ref,
            principal=caller.principal,
            group=caller.group,
            workspace=caller.workspace,
        )
        await wait_for_ms(asked, self._within_ms)
        return self._checked(ref, "".join(pieces).encode(), caller)

    def _checked(self, ref: str, line: bytes, caller):
        """The line as a dict, if it is what was asked for, whole, and for who asks: the board decides that itself."""
        if not line or not self.is_away(ref, caller) or not log_line.check(line):
            return None
        fields = log_line.decode(line)
        has_name = fields.get("id") == ref if ref[0] == "m" else fields.get("seq") == int(ref[1:])
        if not has_name or not ("text" in fields or "content" in fields):
            return None
        told = fields.get("scope", ALL)
        if not access.may_see(caller, told):
            access.refuse(caller, told)
            return None
        return fields

    async def fetched(self, ref: str, caller) -> tuple:
        """(what line() gives, a sentence on why there may be none, "" if all is well)."""
        is_turn = ref.strip()[:1].lower() == "t"
        may_be = is_turn and ids.number("id", ref, "t") <= self.missed
        where = "%s %s with the companion" % (ref, "may be" if may_be else "is")
        if self._exchange.failure:
            return None, "%s, which is not connected: %s" % (where, self._exchange.failure)
        try:
            found = await self.line(ref, caller)
        except asyncio.TimeoutError:
            return None, "%s, which did not answer in time." % where
        except (LinkError, ArgumentError) as error:
            return None, "%s, which gave no answer: %s" % (where, error)
        if found and not is_turn:
            self._parts.archived.used(int(found["id"][1:]), caller)
        return found, "" if found else "the companion has no %s that may be shown." % ref

    def status(self, caller=None) -> str:
        """In a few words what is with the companion, "" for nothing."""
        archived = self._parts.archived
        total = archived.count(caller) if caller else archived.total
        parts = []
        if total:
            parts.append("%d memories" % total)
        oldest = self._journal_raw.oldest
        if oldest > self.missed + 1:
            parts.append(self._turns_status(oldest))
        return " and ".join(parts)

    def _turns_status(self, oldest: int) -> str:
        """Which turns have left, and until when they were said: until the oldest one that is here."""
        told = "turns t%d to t%d" % (self.missed + 1, oldest - 1) if self.missed else "turns before t%d" % oldest
        first = next(self._parts.journal.later(oldest - 1), None)
        return "%s, until %s" % (told, self._parts.clock.day(first["at"])) if first else told
