"""The engines that rank the turns of a conversation for each question: board, companion.

board       the firmware's store and ranker on the 32-bit MicroPython, with the heap of a small board,
            .mpy modules and a littlefs in a file; board_script.py is its half on the board. The board
            stores a conversation, is restarted, and answers.
companion   the companion's store, embedder and search, without a network. A conversation arrives in
            batches of journal lines, as from a board, in an empty SQLite database; all lines are
            embedded; then the questions go to the search as from the HTTP API.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engram import log_line
from engram.memory.access import OWNER
from engram_host.boards.file_set import SUFFIXES, compile_module, content
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.search.engine import SearchEngine
from engram_host.companion.search.request import SearchRequest, SearchResult
from engram_host.companion.settings import EmbeddingSettings
from engram_host.companion.store import open_store
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Sender, SeqRange
from engram_host.evaluation.sets import Conversation, EvaluationFailed, Turn
from engram_host.firmware import BOARDS, CLONE, FIRMWARE


@dataclass(frozen=True)
class Ranking:
    ids: list[str]
    confidence: float


# --- board

HEAP = "2m"

_SCRIPT = Path(__file__).with_name("board_script.py")

_LAST_LINES = 20


class NoBoardEngine(EvaluationFailed):
    """No 32-bit MicroPython to run the firmware."""


class BoardEngine:
    def __init__(self, micropython: Path, path: Sequence[Path]):
        self._micropython = micropython
        self._path = path

    def rank(self, conversation: Conversation, limit: int, work: Path) -> list[Ranking]:
        turns, given, questions, answers = (work / name for name in ("turns", "ids", "questions", "answers"))
        (work / "board_script.mpy").write_bytes(compile_module(_SCRIPT))
        _write(
            turns,
            [[turn.session, turn.at, turn.speaker, turn.text, turn.caption, turn.role] for turn in conversation.turns],
        )
        _write(questions, [question.text for question in conversation.questions])
        self._run(conversation.name, work, "feed", turns, given)
        self._run(conversation.name, work, "ask", questions, answers, limit)
        ids = {
            number: turn.id
            for number, turn in zip(given.read_text(encoding="ascii").split(), conversation.turns, strict=True)
        }
        lines = [line.split() for line in answers.read_text(encoding="ascii").splitlines()]
        return [Ranking([ids[number] for number in found], int(thousandths) / 1000) for thousandths, *found in lines]

    def _run(self, name: str, work: Path, *arguments: object) -> None:
        path = [work, *self._path, Path(".frozen")]
        command = [str(self._micropython), "-X", f"heapsize={HEAP}", "-m", "board_script", str(work / "flash.bin")]
        board = subprocess.Popen(
            [*command, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "MICROPYPATH": ":".join(str(folder) for folder in path)},
        )
        last: list[str] = []
        for line in board.stdout or ():
            sys.stderr.write(f"{name}: {line.rstrip()}\n")
            last = [*last[-_LAST_LINES:], line]
        if board.wait():
            raise EvaluationFailed(f"the board failed at {name}:\n{''.join(last)}")


def own_board(work: Path) -> BoardEngine:
    micropython = CLONE / "build" / "micropython" / "32" if CLONE else None
    if micropython is None or not micropython.is_file():
        raise NoBoardEngine(
            "there is no 32-bit MicroPython: `make eval` in a clone of Engram downloads one; other engines need none."
        )
    for folder, sources in (
        (FIRMWARE, (path for path in (FIRMWARE / "engram").rglob("*.*") if path.suffix in SUFFIXES)),
        (BOARDS / "SIM", (BOARDS / "SIM").glob("*.py")),
    ):
        for source in sources:
            target = work / source.relative_to(folder).with_suffix(SUFFIXES[source.suffix])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content(source))
    return BoardEngine(micropython, [work])


def _write(path: Path, values: list) -> None:
    # UTF-8: MicroPython's json decodes escaped surrogate pairs to invalid text.
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")


# --- companion

NumberedLine = tuple[int, bytes]
"""A line of a log and its seq."""

DEVICE = "evaluation"
EPOCH = 1
BATCH_LINES = 50
MOST_WAIT_SECONDS = 1800

QUERY_SECONDS = 60.0

VARIANTS: dict[str, dict[str, object]] = {
    "companion": {},
    "companion-words": {"meaning": False},
    "companion-meaning": {"words": False},
    **{f"companion-{share}": {"weight": share} for share in (0.2, 0.3, 0.4, 0.5)},
}
"""Search options by engine; the first is the product's default."""


def companion_ranker(name: str) -> Callable[[Conversation, int, Path], list[Ranking]]:
    """Return an engine (see run.py) with the options of a name in VARIANTS."""
    return lambda conversation, limit, work: asyncio.run(_rank(conversation, limit, work, VARIANTS[name]))


class LocalCompanion:
    """A companion's store, embedder and search, without a network."""

    def __init__(self, work: Path):
        self._store = store = open_store(f"sqlite:///{work / 'companion.db'}")
        self._embedding = EmbeddingService(
            boards=store.boards,
            values=store.values,
            vectors=store.vectors,
            settings=EmbeddingSettings(),
            supervisor=Supervisor(),
        )
        self._engine = SearchEngine(store.boards, store.vectors)

    def feed(self, device: str, logs: dict[LogName, list[NumberedLine]]) -> None:
        """Store whole logs of a board, in batches as it sends them."""
        states: dict[LogName, LogState] = {
            log: LogState(EPOCH, 1, lines[-1][0] + 1 if lines else 1, 0) for log, lines in logs.items()
        }
        replication, number = self._store.replication, 1
        replication.greet(Hello(device, Sender(device, 1, 1), 0, states), 0)
        for log, lines in logs.items():
            for at in range(0, len(lines), BATCH_LINES):
                some, number = lines[at : at + BATCH_LINES], number + 1
                span = SeqRange(device, log, EPOCH, lines[at - 1][0] if at else 0, some[-1][0])
                (have,) = replication.store_batches([LineBatch(Sender(device, 1, number), span, some)], 0)
                if have != some[-1][0]:
                    raise EvaluationFailed(f"{device}: the store did not take a batch: {have}")

    async def embed(self, name: str) -> None:
        """Embed all that was fed."""
        self._embedding.start()
        for second in range(MOST_WAIT_SECONDS):
            if self._embedding.identity and not self._embedding.changes_left:
                return
            if second % 10 == 0:
                sys.stderr.write(f"{name}: {self._embedding.status_line()}\n")
            await asyncio.sleep(1)
        raise EvaluationFailed(f"{name}: after {MOST_WAIT_SECONDS} s: {json.dumps(self._embedding.status_line())}")

    async def search(self, device: str, request: SearchRequest, now: int) -> SearchResult:
        vector = await self._embedding.vector_of(request.query, QUERY_SECONDS) if request.meaning is not False else None
        source = self._store.boards.device(device)
        result = await asyncio.to_thread(self._engine.search, request, OWNER, [source], now, vector)
        if result.degraded:
            raise EvaluationFailed(f"{device}: {result.degraded}")
        return result

    async def close(self) -> None:
        await self._embedding.stop()
        self._store.close()


async def _rank(conversation: Conversation, limit: int, work: Path, options: dict[str, object]) -> list[Ranking]:
    companion = LocalCompanion(work)
    try:
        companion.feed(DEVICE, {"records": [], "journal": _lines(conversation.turns)})
        if options.get("meaning", True):
            await companion.embed(conversation.name)
        rankings = []
        for question in conversation.questions:
            request = SearchRequest.model_validate({"query": question.text, "limit": limit, **options})
            result = await companion.search(DEVICE, request, conversation.turns[-1].at)
            rankings.append(Ranking(_ids(result, conversation), result.confidence))
        return rankings
    finally:
        await companion.close()


def _lines(turns: Sequence[Turn]) -> list[NumberedLine]:
    last_of_session: dict[int, tuple[int, int]] = {}
    return [(seq, _line(seq, turn, last_of_session)) for seq, turn in enumerate(turns, 1)]


def _line(seq: int, turn: Turn, last_of_session: dict[int, tuple[int, int]]) -> bytes:
    before, place = last_of_session.get(turn.session, (0, 0))
    last_of_session[turn.session] = (seq, place + 1)
    return log_line.encode(
        [
            ("seq", seq),
            ("sid", f"s{turn.session}"),
            ("role", turn.role),
            ("who", turn.speaker),
            ("text", turn.text),
            ("caption", turn.caption or None),
            ("at", turn.at),
            ("prev", before),
            ("n", place),
        ]
    )


def _ids(result: SearchResult, conversation: Conversation) -> list[str]:
    return [conversation.turns[hit.seq - 1].id for hit in result.hits]
