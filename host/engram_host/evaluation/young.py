"""The set `young`: memories of a person's first weeks, and what a board finds and how sure it is, alone or with a companion.

A hundred memories of 10 to 50 facts in six languages are made from the words in young/ and a seed. Each is asked what was
said, what never was, what a day brought, and is sent small talk. Figures:

right       share of questions with an answer in the recalled block
top         of these, the share whose first result is the answer
uncertain   of these, the share that the block calls weak or uncertain; an answer that is not found counts in `right`
sure        share of questions about unknown things whose block is neither weak nor uncertain
lines       lines that small talk brought into prompts, in all
"""

import asyncio
import random
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from engram import log_line
from engram.build import Board
from engram.clock import Clock
from engram.config import Config
from engram.memory import recall_block
from engram.memory.access import OWNER, own_scope
from engram.memory.recall import CANDIDATES, RemoteResults, make_query
from engram.memory.records.records import Draft
from engram.store.store import Store
from engram_host.companion.search.request import Hit, SearchRequest
from engram_host.companion.types import LogName
from engram_host.evaluation.engines import LocalCompanion, NumberedLine

NAME = "young"
ENGINES = ("board", "companion")
LANGUAGES = ("de", "en", "es", "fr", "ru", "zh")
FACTS = (10, 50)
DAY = 86400
NOON = 1790006400  # Monday, 2026-09-21 16:00 UTC
TOKENS = 600
ASKED = {"fact": 8, "day": 2, "unknown": 5, "small talk": 5}
"""Questions of each kind to a memory."""


@dataclass(frozen=True)
class Said:
    at: int
    role: str
    text: str
    is_memory: bool = False


@dataclass(frozen=True)
class Question:
    kind: str
    text: str
    answers: tuple[str, ...] = ()
    """Texts that each are an answer."""


@dataclass
class Memory:
    language: str
    now: int
    said: list[Said] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def make_memories(seed: int, count: int = 100) -> list[Memory]:
    words = {name: _words(name) for name in LANGUAGES}
    chance = random.Random(seed)
    return [_make(LANGUAGES[at % len(LANGUAGES)], words[LANGUAGES[at % len(LANGUAGES)]], chance) for at in range(count)]


def _words(language: str) -> dict:
    return tomllib.loads(
        (resources.files("engram_host.evaluation") / "young" / f"{language}.toml").read_text(encoding="utf-8")
    )


def _make(language: str, words: dict, chance: random.Random) -> Memory:
    days = chance.randint(5, 20)
    memory = Memory(language, NOON + days * DAY)
    facts = chance.sample(words["facts"], min(len(words["facts"]), chance.randint(*FACTS)))
    asked = set(map(id, chance.sample(facts, min(len(facts), ASKED["fact"]))))
    for fact in facts:
        value = chance.choice(fact["values"])
        content = chance.choice(fact["say"]).format(v=value)
        at = NOON + chance.randrange(days) * DAY + chance.randrange(-8, 5) * 3600
        memory.said += [
            Said(at, "user", content, chance.random() < 0.5),
            Said(at + 5, "assistant", chance.choice(words["replies"])),
        ]
        if id(fact) in asked:
            memory.questions.append(Question("fact", chance.choice(fact["ask"]).format(v=value), (content,)))
    _add_events(memory, words, days, chance)
    for kind, name in (("unknown", "unknown"), ("small talk", "small_talk")):
        memory.questions += [Question(kind, text) for text in chance.sample(words[name], ASKED[kind])]
    memory.said.sort(key=lambda one: one.at)
    return memory


def _add_events(memory: Memory, words: dict, days: int, chance: random.Random) -> None:
    """Add an event to each of the last six days, and ask for some by the name of the day."""
    events = chance.sample(words["events"], 6)
    last = [days - back for back in range(1, 7)]
    for number, event in zip(last, events, strict=True):
        at = NOON + number * DAY
        memory.said += [Said(at, "user", event), Said(at + 5, "assistant", chance.choice(words["replies"]))]
    for number, event in chance.sample(list(zip(last, events, strict=True)), ASKED["day"]):
        day = words["days"][number % 7]  # NOON is a Monday
        answers = (
            event,
            *(one.text for one in memory.said if (one.at - NOON + DAY // 2) // DAY == number and one.role == "user"),
        )
        memory.questions.append(Question("day", chance.choice(words["by_day"]).format(day=day), answers))


# --- a board


@dataclass(frozen=True)
class Answer:
    question: Question
    items: list[str]
    block: str

    @property
    def lines(self) -> list[str]:
        return [line for line in self.block.splitlines() if line.startswith("- [")]

    @property
    def is_right(self) -> bool:
        return any(answer in line for line in self.lines for answer in self.question.answers)

    @property
    def is_sure(self) -> bool:
        return bool(self.lines) and recall_block._RULE in self.block


class YoungBoard:
    """A board's memory in a folder, filled with what was said."""

    def __init__(self, folder: str, memory: Memory):
        config = Config(folder, {"companion.url": "http://companion.invalid"})  # ask_companion() asks it
        self.memory = memory
        self._now = memory.said[0].at
        self._board = Board(config, folder, Clock(0, lambda: self._now), None)
        self._board.add_memory()
        for said in memory.said:
            self._now = said.at
            who = OWNER.principal if said.role == "user" else "engram"
            seq = self._board.journal.add(OWNER, said.role, who, said.text, command=said.is_memory)
            if said.is_memory:
                values = {"content": said.text, "tags": ["note"], "scope": own_scope(OWNER), "created": said.at}
                self._board.records.keep((Draft("", {**values, "turns": [f"t{seq}"]}, [], "", 0),))
        self._now = memory.now

    @property
    def logs(self) -> dict[LogName, list[NumberedLine]]:
        return {"records": _lines(self._board.records.entries), "journal": _lines(self._board.journal.entries)}

    def ask(self, question: Question, hits: Sequence[Hit] = ()) -> Answer:
        """Return what a prompt would have, with the hits of a companion if it was asked."""
        recall = self._board.recall
        have = (self._board.records.entries.next_seq - 1, self._board.journal.entries.next_seq - 1)
        found = [[hit.id, round(1000 * hit.score)] for hit in hits]
        remote = RemoteResults(found, have, "", [round(1000 * hit.confidence) for hit in hits])
        ranked = recall.with_remote(recall.rank(make_query(question.text, OWNER)), remote)
        shown = [recall.with_text(item, OWNER) for item in recall.all_items(ranked)[:10]]
        items = [item.text for item in shown if item]
        return Answer(question, items, recall_block.make(recall, ranked, TOKENS))


def _lines(store: Store) -> list[NumberedLine]:
    return [(seq, log_line.encode(list(store.line(seq).items()))) for seq in range(store.oldest, store.next_seq)]


def ask(engine: str, memories: Sequence[Memory]) -> list[list[Answer]]:
    """Ask boards all questions of their memories, alone or with a companion."""
    with tempfile.TemporaryDirectory() as folder:
        boards = [YoungBoard(f"{folder}/{number}", memory) for number, memory in enumerate(memories)]
        if engine == "companion":
            return asyncio.run(_ask_companion(boards, Path(folder)))
        return [[board.ask(question) for question in board.memory.questions] for board in boards]


async def _ask_companion(boards: Sequence[YoungBoard], folder: Path) -> list[list[Answer]]:
    """Ask boards whose one companion is asked each question."""
    companion = LocalCompanion(folder)
    try:
        for number, board in enumerate(boards):
            companion.feed(f"young{number}", board.logs)
        await companion.embed(NAME)
        return [
            [await _ask_both(board, companion, f"young{number}", question) for question in board.memory.questions]
            for number, board in enumerate(boards)
        ]
    finally:
        await companion.close()


async def _ask_both(board: YoungBoard, companion: LocalCompanion, device: str, question: Question) -> Answer:
    result = await companion.search(device, SearchRequest(query=question.text, limit=CANDIDATES), board.memory.now)
    return board.ask(question, [hit for hit in result.hits if hit.is_near])


# --- figures


def figures(answers: Sequence[Answer]) -> dict[str, float]:
    facts = [answer for answer in answers if answer.question.answers]
    right = [answer for answer in facts if answer.is_right]
    unknown = [answer for answer in answers if answer.question.kind == "unknown"]
    talk = [answer for answer in answers if answer.question.kind == "small talk"]
    return {
        "right": _share(len(right), len(facts)),
        "top": _share(
            sum(any(text in answer.items[0] for text in answer.question.answers) for answer in right), len(right)
        ),
        "uncertain": _share(sum(not answer.is_sure for answer in right), len(right)),
        "sure": _share(sum(answer.is_sure for answer in unknown), len(unknown)),
        "lines": sum(len(answer.lines) for answer in talk),
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def evaluate(engine: str, seed: int) -> dict[str, dict[str, float]]:
    """Return the figures of an engine by language, and of "all"."""
    memories = make_memories(seed)
    answers: dict[str, list[Answer]] = {language: [] for language in (*LANGUAGES, "all")}
    for memory, found in zip(memories, ask(engine, memories), strict=True):
        answers[memory.language] += found
        answers["all"] += found
    return {language: figures(some) for language, some in answers.items()}
