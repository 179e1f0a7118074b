"""Messages of boards, stored in the database, and their answers: the companion's side of engram.link.messages.

Lines that arrive concurrently, from many boards, share one transaction and its sync to disk. Answers follow the
commit.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from engram.errors import ArgumentError
from engram.link import messages
from engram_host.companion.errors import CompanionError, Refused, Stale, StoreUnavailable, UnknownDevice
from engram_host.companion.metrics import Metrics
from engram_host.companion.replication.messages import (
    Head,
    UnknownMessage,
    answer_to,
    check_states,
    check_version,
    decode,
    read_batch,
    read_span,
    sender_of,
)
from engram_host.companion.replication.state_messages import (
    check_note,
    read_block,
    read_list,
    read_note_span,
    read_status,
)
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.store.boards.replica import NO_QUOTA, ReplicationTable
from engram_host.companion.store.boards.status import BoardStatusTable
from engram_host.companion.store.senses.table import SenseTable
from engram_host.companion.supervisor import BackgroundPart, Supervisor
from engram_host.companion.types import LOGS, Hello, LineBatch, LineQuota, LogName, LogState, Sender

_log = logging.getLogger("engram.replication")

MOST_WAITING = 512
"""Batches that wait for the next transaction, at most; bounds the memory."""

MOST_AT_ONCE = 128
"""Batches per transaction; bounds its time."""

MOST_GREETED = 512
"""Hellos that wait for the database, at most: a board waits four seconds for the answer, and then says hello again."""

BUSY_SECONDS = (2, 8)
"""Retry times in seconds of a busy companion; random, so that boards do not return together."""

AGAIN_SECONDS = 15

LONGEST_PAUSE = 1.0
"""Pause in seconds after an unknown error; all boards wait for that."""

_FAULT = "the companion has a fault and could not take the lines: see what it logged."
_BROKEN_OFF = "the companion was interrupted before the lines were on disk."
_TOLD_LONGEST = 1000


class _Busy(Refused):
    def __init__(self) -> None:
        super().__init__(
            "too many boards connect at the same time: this one tries again.", random.randint(*BUSY_SECONDS)
        )


Outcome = int | Refused | Stale | StoreUnavailable
"""Outcome of a batch: the seq up to which the copy is complete, or its refusal."""


@dataclass
class _Waiting:
    batch: LineBatch
    answer: asyncio.Future[Outcome]


class Replication(BackgroundPart):
    """Handles messages of boards except searches; calls `taken()` after lines were stored."""

    def __init__(
        self,
        *,
        replication: ReplicationTable,
        notes: NoteFileTable,
        senses: SenseTable,
        status: BoardStatusTable,
        taken: Callable[[], None],
        supervisor: Supervisor,
        metrics: Metrics | None = None,
        quota: LineQuota = NO_QUOTA,
    ):
        super().__init__(supervisor, "replication", longest_pause=LONGEST_PAUSE)
        self._replication = replication
        self._notes = notes
        self._senses = senses
        self._status = status
        self._quota = quota
        self._taken = taken
        self._metrics = metrics or Metrics()
        self._waiting: asyncio.Queue[_Waiting] = asyncio.Queue(MOST_WAITING)
        self._greeting = 0

    @property
    def waiting(self) -> int:
        return self._waiting.qsize()

    async def stop(self) -> None:
        """Stop writing; waiting callers get an error."""
        await super().stop()
        while not self._waiting.empty():
            _set_outcome(self._waiting.get_nowait(), Refused(_BROKEN_OFF, AGAIN_SECONDS))

    def refusal(self, device: str, head: Head, op: str, problem: Refused | StoreUnavailable) -> bytes:
        """Return a refusal; the location of the database appears only in the log."""
        repeat = "busy" if isinstance(problem, _Busy) else f"{device} {op}"
        _log.warning("%s: refused: %s", device, problem, extra={"device": device, "op": op, "repeat": repeat})
        why, again = (str(problem), problem.again) if isinstance(problem, Refused) else (problem.public, AGAIN_SECONDS)
        return answer_to(head, "refused", why=why[:_TOLD_LONGEST], again=again)

    async def answer(self, device: str, head: Head, body: memoryview) -> bytes:
        sender = sender_of(head)
        match head["op"]:
            case "hello":
                return await self._greet(device, sender, head)
            case "lines":
                batch = read_batch(device, sender, head, body)
                have = await self._take(batch)
                self._metrics.lines.inc(len(batch.lines))
                self._taken()
                return answer_to(head, "have", log=batch.span.log, epoch=batch.span.epoch, have=have)
            case "check":
                span = read_span(device, head)
                same = await asyncio.to_thread(self._replication.is_same, sender, span, head["count"], head["digest"])
                return answer_to(head, "same" if same else "differs")
            case "agreed":
                log, epoch, rewrites = head["log"], head["epoch"], head["rewrites"]
                await asyncio.to_thread(self._replication.mark_agreed, sender, device, log, epoch, rewrites)
                return answer_to(head, "same")
            case "keep":
                kept = sender, device, head["log"], head["epoch"], head["seqs"], head["digest"]
                count = await asyncio.to_thread(self._replication.promise_lines, *kept)
                return answer_to(head, "kept", count=count)
            case "holds":
                held = sender, device, head["epoch"], range(head["first"], head["last"] + 1), int(time.time())
                count = await asyncio.to_thread(self._replication.resolve_archive, *held)
                self._taken()
                return answer_to(head, "kept", count=count)
            case _:
                return await self._keep_state(device, sender, head, bytes(body))

    async def _keep_state(self, device: str, sender: Sender, head: Head, body: bytes) -> bytes:
        now = int(time.time())
        match head["op"]:
            case "notes":
                span = read_note_span(device, head)
                lacks, state = await asyncio.to_thread(self._notes.compare_notes, sender, span, now)
                self._taken()
                return answer_to(head, "noted", lacks=lacks, state=state)
            case "note":
                check_note(head, body)
                note = sender, device, head["epoch"], head["file"], body, now, self._quota
                state = await asyncio.to_thread(self._notes.put_note, *note)
                self._taken()
                return answer_to(head, "noted", lacks=[], state=state)
            case "senses":
                held = await asyncio.to_thread(self._senses.put_senses, sender, device, read_list(head), now)
            case "readings":
                block = read_block(head, body)
                held = await asyncio.to_thread(self._senses.put_readings, sender, device, block, now, self._quota)
            case _:
                await asyncio.to_thread(self._status.put_status, sender, device, read_status(head), now)
                return answer_to(head, "received", cancel=False)
        return answer_to(head, "perceived", have=[list(newest) for newest in held.newest], state=held.state)

    async def _greet(self, device: str, sender: Sender, head: Head) -> bytes:
        check_version(head)
        check_states(head)
        logs: dict[LogName, LogState] = {name: LogState(*head[name]) for name in LOGS}
        hello = Hello(device, sender, head["zone"], logs, head["relied"], head["rule"])
        if self._greeting >= MOST_GREETED:
            raise _Busy
        self._greeting += 1
        try:
            welcome = await asyncio.to_thread(self._replication.greet, hello, int(time.time()), self._quota)
        finally:
            self._greeting -= 1
        for sentence in welcome.events:
            _log.warning("%s: %s", device, sentence)
        return answer_to(
            head,
            "welcome",
            told=" ".join(welcome.events)[:_TOLD_LONGEST],
            archived=welcome.archived,
            asks=welcome.asks,
            notes=welcome.notes,
            senses=welcome.senses,
            **{name: [held.have, held.crc, held.rewrites] for name, held in welcome.logs.items()},
        )

    async def _take(self, batch: LineBatch) -> int:
        waiting = _Waiting(batch, asyncio.get_running_loop().create_future())
        await self._waiting.put(waiting)
        outcome = await waiting.answer
        if isinstance(outcome, CompanionError):
            raise outcome
        return outcome

    async def _run(self) -> None:
        while True:
            together = [await self._waiting.get()]
            while len(together) < MOST_AT_ONCE and not self._waiting.empty():
                together.append(self._waiting.get_nowait())
            outcomes: Sequence[Outcome] = []
            why = _FAULT
            try:
                batches = [each.batch for each in together]
                with self._metrics.writes.time():
                    outcomes = await asyncio.to_thread(
                        self._replication.store_batches, batches, int(time.time()), self._quota
                    )
            except StoreUnavailable as problem:
                _log.error("%s", problem)
                outcomes = [problem] * len(together)
            except asyncio.CancelledError:
                why = _BROKEN_OFF
                raise
            finally:
                # Waiting callers get an answer, even if this task fails.
                outcomes = outcomes or [Refused(why, AGAIN_SECONDS)] * len(together)
                for each, outcome in zip(together, outcomes, strict=True):
                    _set_outcome(each, outcome)


def _set_outcome(waiting: _Waiting, outcome: Outcome) -> None:
    if not waiting.answer.done():
        waiting.answer.set_result(outcome)


# --- dispatch, for MQTT and HTTP


_dispatch_log = logging.getLogger("engram.dispatch")

_REFUSED = b'{"op":"refused"'

Answer = Callable[[str, Head], Awaitable[list[bytes]]]
AnswerTalk = Callable[[str, Head, bytes], Awaitable[list[bytes]]]
"""Returns the answers to a board's message, given its head and its body."""


class MessageDispatcher:
    def __init__(
        self,
        replication: Replication,
        searching: Answer,
        reading: Answer,
        files: Answer,
        talking: AnswerTalk,
        metrics: Metrics | None = None,
    ):
        self._replication = replication
        self._readers = {"search": searching, "get": reading, "file": files}
        self._answer_talk = talking
        self._metrics = metrics or Metrics()

    async def answers(self, device: str, data: bytes) -> list[bytes]:
        """Return the answers to a message, maybe none; raises BadMessage if it is unreadable."""
        try:
            head, body = decode(data)
        except UnknownMessage as unknown:
            self._metrics.count_message("", "refused")
            return [self._replication.refusal(device, unknown.head, unknown.op, unknown)]
        except messages.BadMessage:
            self._metrics.count_message("", "unreadable")
            raise
        answers = await self._answers(device, head, body)
        self._metrics.count_message(head["op"], _outcome(answers))
        return answers

    async def _answers(self, device: str, head: Head, body: memoryview) -> list[bytes]:
        try:
            if head["op"] in self._readers:
                return await self._readers[head["op"]](device, head)
            if head["op"] in ("listen", "reply", "push"):
                return await self._answer_talk(device, head, bytes(body))
            return [await self._replication.answer(device, head, body)]
        except Stale as late:
            _log.info("%s: %s", device, late)
            return []
        except (Refused, StoreUnavailable) as problem:
            refused = problem
        except UnknownDevice:
            refused = Refused("the companion has nothing of this board yet.", 0)
        except (ArgumentError, CompanionError) as problem:
            refused = Refused(str(problem))
        return [self._replication.refusal(device, head, head["op"], refused)]

    async def answers_or_nothing(self, device: str, data: bytes) -> list[bytes]:
        try:
            return await self.answers(device, data)
        except messages.BadMessage as problem:
            fields = {"device": device, "repeat": device}
            _dispatch_log.warning("%s: a message was passed over: %s", device, problem, extra=fields)
            return []


def _outcome(answers: list[bytes]) -> str:
    if not answers:
        return "silent"
    return "refused" if answers[0].startswith(_REFUSED) else "answered"
