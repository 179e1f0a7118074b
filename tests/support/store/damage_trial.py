"""A database of which parts are damaged, and all that is done with it: nothing acknowledged may be lost without a sentence."""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from archiving_board import ArchivingBoard, archive, board_of_six
from engram import log_line
from engram_host.companion.auth import tokens
from engram_host.companion.entries.reader import LogCopy
from engram_host.companion.errors import CompanionError, Refused, Stale
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.vectors import Identity, StoredVector
from engram_host.companion.types import (
    LOGS,
    AuditEntry,
    GatewayUse,
    LogName,
    NewFile,
    OperatorToken,
    SeqRange,
    StoredPassage,
)
from plain_board import PlainBoard

IDENTITY = Identity("test", 8, 1)
TURNS = 60


@dataclass
class Trial:
    """What was acknowledged to two boards and is to be there, and what was said of what is not."""

    url: str
    boards: list[PlainBoard] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def fill(self) -> None:
        """Write a little of everything into an empty database."""
        store = self._open()
        archiving: ArchivingBoard = board_of_six(store)
        archive(archiving, 2, 4)
        archiving.sync()
        archiving.compact_records()
        archiving.sync()
        plain = PlainBoard(store, "hall", "board-2")
        plain.logs["journal"].append(TURNS)
        plain.logs["records"].append(10)
        long = plain.logs["journal"]
        long.lines[long.next] = log_line.encode([("seq", long.next), ("text", "long " * 2500)])
        long.next += 1
        plain.sync()
        self.boards = [archiving, plain]
        vectors = [StoredVector("journal", seq, b"d" * 16, np.ones(8, np.float32)) for seq in range(1, TURNS)]
        store.vectors.put_vectors("hall", IDENTITY, vectors)
        store.tokens.add_token(tokens.stored_token("hall", tokens.new_token()))
        store.tokens.add_operator_token(OperatorToken("ops", b"o" * 32, True, 1, 0))
        store.tokens.replace_token(tokens.stored_token("hall", tokens.new_token()), 1 << 31)
        for number in range(4):
            store.audit.add_audit(AuditEntry(number, "ops", f"GET /v1/devices/{number}", "allowed", "127.0.0.1"))
        store.values.put("note", "kept")
        store.gateway.begin_call(1, "hall", 10, {"all": GatewayUse(9, 9)})
        passages = tuple(StoredPassage(f"passage {number}", "", number, number) for number in range(1, 9))
        store.folders.put_files("folder:x/notes", [NewFile("a.md", "s", "d", 1, "all", passages)], 1)
        store.close()

    def again(self, url: str) -> "Trial":
        """The same for a copy of the database, with boards of its own."""
        for board in self.boards:
            board.store = None  # type: ignore[assignment]
        trial = copy.deepcopy(self)
        trial.url = url
        return trial

    def _open(self) -> CompanionStore:
        store = choose_store(self.url)
        store.open()
        for board in self.boards:
            board.store = store
        return store

    def play(self) -> None:
        """Use the damaged database as a companion does: read all, check it, let boards connect. Sentences go to `said`."""
        try:
            store = self._open()
        except CompanionError as problem:
            self.said.append(str(problem))
            return
        try:
            for call in self._uses(store):
                try:
                    call()
                except (Refused, Stale) as problem:
                    self.said.append(str(problem))
                except CompanionError as problem:
                    self.said.append(str(problem))
            self._note_told(store)
        finally:
            store.close()

    def _note_told(self, store: CompanionStore) -> None:
        try:
            self.said += [lines.sentence for lines in store.boards.damaged()]
            for board in self.boards:
                self.said += [text for _, text in store.boards.events(board.name, 1000)]
        except CompanionError as problem:
            self.said.append(str(problem))

    def _uses(self, store: CompanionStore) -> Iterable[Callable[[], object]]:
        yield lambda: store.health.probe()
        yield lambda: store.boards.sources()
        yield lambda: [store.tokens.tokens(), store.tokens.operator_tokens(), store.audit.audit(100)]
        yield lambda: store.values.get("note")
        yield lambda: store.gateway.gateway_used(1)
        yield lambda: store.folders.stamps("folder:x/notes")
        for board in self.boards:
            name = board.name
            yield lambda name=name: store.boards.events(name)
            yield lambda name=name: store.boards.set_aside_lines(name)
            yield lambda name=name: store.boards.archived(name)
            yield lambda name=name: store.vectors.vectors(name, IDENTITY, 0)
            for log in LOGS:
                yield lambda name=name, log=log: list(
                    LogCopy(store.boards, store.boards.device(name), log, 0).oldest_first()
                )
        yield lambda: store.health.check()
        for board in self.boards:
            yield board.sync

    # --- what was acknowledged

    def remember(self) -> None:
        """Note what the sound database has."""
        store = self._open()
        self._before = {board.name: self.lines(store, board) for board in self.boards}
        store.close()

    def lines(self, store: CompanionStore, board: PlainBoard) -> dict[tuple[LogName, int], bytes]:
        """All lines of a board's present copies, those of its archive included."""
        found: dict[tuple[LogName, int], bytes] = {}
        for log in LOGS:
            span = SeqRange(board.name, log, board.logs[log].epoch, 0, log_line.MAX_SEQ)
            found |= {(log, seq): line for seq, line in store.boards.lines(span, archived=True)}
        return found

    def lost(self) -> list[str]:
        """What was acknowledged and cannot be read now, or is read as something else."""
        try:
            store = self._open()
        except CompanionError as problem:
            return [str(problem)]
        try:
            missing: list[str] = []
            for board in self.boards:
                now = self.lines(store, board)
                before = self._before[board.name]
                missing += [f"{board.name} {key}" for key, line in before.items() if now.get(key) != line]
            return missing
        except CompanionError as problem:
            return [str(problem)]
        finally:
            store.close()
