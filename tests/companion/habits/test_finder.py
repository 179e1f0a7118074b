"""The board is told of a habit once; more of its days change it until a person has confirmed or forgotten it."""

import asyncio
import json
import zlib
from typing import Any, cast

import numpy as np
import pytest

from engram import log_line
from engram_host.companion import types
from engram_host.companion.conversations.service import Answer, Exchange
from engram_host.companion.errors import TooManyWaiting
from engram_host.companion.gateway.dialects import Busy, ServiceFailed
from engram_host.companion.habits import finder
from engram_host.companion.habits.finder import MOST_CALLS, HabitFinder
from engram_host.companion.habits.sources import HabitSources
from engram_host.companion.memories.browse import MemoryBrowser, MemoryQuery
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.vectors import Identity, StoredVector
from engram_host.companion.types import NOTES, Hello, LineBatch, LogName, LogState, NoteEntry, NoteSpan, Said, Sender

DAY = 86400
NIGHT = 1_795_000_000 // DAY * DAY + 4 * 3600
IDENTITY = Identity("words", 64, 1)
SENDER = Sender("b1", 3, 9)
HABIT = "Goes climbing every week"


def vector(text: str) -> np.ndarray:
    """The direction of a text's first word."""
    made = np.random.default_rng(zlib.crc32(text.split()[0].encode())).normal(size=64).astype(np.float32)
    return made / np.linalg.norm(made)


class House:
    """A board, what its companion is told by a model, and what the board is told."""

    def __init__(self, store: CompanionStore):
        self.store, self.now = store, NIGHT
        self.lines: list[dict[str, Any]] = []
        self.answer: dict[str, Any] | Exception | None = {"habit": HABIT, "for": [1, "2", "[3]"]}
        self.asked: list[str] = []
        self.told: list[dict[str, Any]] = []
        self.said: dict[str, Said] = {}
        self.report = '{"counts": {"stored": 1}}'
        self.state: types.ConversationState = "done"
        self.is_full = False
        self.is_embedded = True
        self.notes: dict[str, str] = {}
        self.kept: dict[str, Any] = {"created": NIGHT}
        self.fill("user:ann")

    def fill(self, scope: str) -> None:
        for day in range(20):
            self.happened(f"{chr(97 + day) * 4} happened", day, scope)

    def happened(self, text: str, days_ago: int, scope: str = "user:ann") -> str:
        return self.write(content=text, type="event", created=self.now - days_ago * DAY, scope=scope)

    def write(self, **fields: Any) -> str:
        self.lines.append({"id": f"m{len(self.lines) + 1}", "tags": ["note"]} | fields)
        return f"m{len(self.lines)}"

    def climbed(self, *days_ago: int, scope: str = "user:ann") -> list[str]:
        return [self.happened(f"climbing, the {days}th", days, scope) for days in days_ago]

    def night(self, days: float = 1) -> None:
        """Let some days pass, with what the board has written, and look for habits."""
        self.now += int(days * DAY)
        count = len(self.lines)
        logs: dict[LogName, LogState] = {name: LogState(7, 1, count + 1, 0) for name in ("records", "journal")}
        self.store.replication.greet(Hello("kitchen", SENDER, 0, logs), self.now)
        batch = [(seq, log_line.encode([("seq", seq), *line.items()])) for seq, line in enumerate(self.lines, 1)]
        span = types.SeqRange("kitchen", "records", 7, 0, count)
        self.store.replication.store_batches([LineBatch(SENDER, span, batch)], self.now)
        entries = tuple(NoteEntry(file, zlib.crc32(text.encode())) for file, text in sorted(self.notes.items()))
        self.store.notes.compare_notes(SENDER, NoteSpan("kitchen", 7, "", "", entries), self.now)
        for file, text in self.notes.items():
            self.store.notes.put_note(SENDER, "kitchen", 7, file, text.encode(), self.now, types.LineQuota())
        self.embed("kitchen", dict(enumerate(self.lines, 1)))
        browser = MemoryBrowser(self.store.boards, IndexCache(self.store.boards, self.store.vectors), lambda: self.now)
        habits = HabitFinder(
            sources=HabitSources(self.store.boards, self.store.folders, self.store.vectors, browser),
            values=self.store.values,
            identity=lambda: IDENTITY,
            ask=self.ask,
            conversations=cast(Any, self),
            supervisor=cast(Any, None),
            lease=cast(Any, None),
        )
        if self.notes:
            notes = browser.read_page(NOTES + "kitchen", MemoryQuery("all", limit=100)).entries
            self.embed(NOTES + "kitchen", {note.line["seq"]: note.line for note in notes})
        asyncio.run(habits.look_at_boards(self.now))

    def embed(self, device: str, lines: dict[int, dict[str, Any]]) -> None:
        if self.is_embedded:
            found = {seq: vector(line["content"]) for seq, line in lines.items() if "content" in line}
            vectors = [StoredVector("records", seq, bytes(16), each) for seq, each in found.items()]
            self.store.vectors.put_vectors(device, IDENTITY, vectors)

    async def ask(self, prompt: str) -> str:
        self.asked.append(prompt)
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is None:
            await asyncio.Event().wait()
        return json.dumps(self.answer)

    async def say(self, device: str, said: Said) -> None:
        command, _, values = said.text.partition(" ")
        assert (device, command, said.is_command) == ("kitchen", "/import", True)
        self.told.append(json.loads(values))
        self.said[said.mid] = said

    async def check_room(self, device: str, said: Said) -> None:
        if self.is_full:
            raise TooManyWaiting("20 messages wait.")

    async def exchange(self, device: str, mid: str) -> Exchange:
        message = types.Conversation(1, device, self.said[mid], self.state, "", 0, 0, 0, 0, 0, False, False)
        return Exchange(message, Answer(reports=[self.report]))

    def keep(self, **changes: Any) -> None:
        """Let the board do what it was told."""
        self.kept |= self.told[-1] | changes
        self.write(**self.kept)


@pytest.fixture
def house(store: CompanionStore) -> House:
    return House(store)


def test_a_habit_is_told_with_its_evidence_and_asked_about_once(house: House):
    refs = house.climbed(30, 20, 10)
    house.night()
    (told,) = house.told
    assert (told["content"], told["type"], told["scope"]) == (HABIT, "pattern", "user:ann")
    assert (told["evidence"], told["confidence"]) == (refs, 0.8)
    house.night()
    assert len(house.asked) == 1


def test_lines_of_two_days_and_of_what_is_planned_cost_nothing(house: House):
    house.climbed(30, 30, 30, 10)
    for days in (7, 14, 21):
        house.write(content="climbing", type="event", created=house.now, when=house.now + days * DAY, scope="user:ann")
    house.night()
    assert house.asked == []


def test_what_is_no_habit_is_asked_about_again_once_there_is_twice_as_much(house: House):
    house.answer = {"habit": HABIT, "for": "all of them"}
    house.climbed(30, 20, 10)
    house.night()
    house.climbed(9, 8)
    house.night()
    assert len(house.asked) == 1
    house.climbed(7)
    house.night()
    assert (len(house.asked), house.told) == (2, [])


def test_counterexamples_lower_the_confidence_until_the_habit_leaves(house: House):
    house.climbed(30, 20, 10)
    house.night()
    house.keep()
    (skipped,) = house.climbed(5)
    house.answer = {"for": [1, 2, 3], "against": [4]}
    house.night()
    changed = house.told[-1]
    assert HABIT in house.asked[-1] and changed["content"] == HABIT and "expires" not in changed
    assert (changed["confidence"], changed["evidence"][-1]) == (0.67, f"not {skipped}")
    house.keep(id="m24")
    house.climbed(4, 3)
    house.answer = {"for": [1, 2], "against": [4, 5, 6]}
    house.night()
    assert house.told[-1]["confidence"] < 0.5 and house.told[-1]["expires"] == house.now


def test_a_habit_whose_days_are_over_leaves_once_and_is_found_again_if_it_goes_on(house: House):
    house.climbed(30, 20, 10)
    house.night()
    house.keep()
    house.night(75)
    house.state = "waiting"
    house.night()
    assert len(house.told) == 2 and [*house.said][-1].endswith(":24:over")
    assert house.told[-1]["expires"] == house.now - DAY and house.told[-1]["confidence"] == 0.8
    house.keep(id="m24")
    house.state = "done"
    house.climbed(9, 6, 3)
    house.night()
    assert len(house.told) == 3 and "expires" not in house.told[-1]


@pytest.mark.parametrize("is_confirmed", [True, False], ids=["confirmed", "forgotten"])
def test_a_habit_that_a_person_has_judged_is_neither_changed_nor_found_again(
    house: House, is_confirmed: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(finder, "MOST_KNOWN", 4)
    house.climbed(30, 20, 10)
    house.night()
    house.keep()
    if is_confirmed:
        house.keep(id="m24", confidence=1)
    else:
        house.lines.append({"op": "forget", "id": "m24", "at": house.now, "was": 24, "scopes": ["user:ann"]})
    house.answer = {"habit": ""}
    for other in range(5):
        for days in (30, 20, 10):
            house.happened(f"other{other} again", days)
    house.night()
    for _ in range(4):
        house.climbed(5, 4, 3)
        house.night(7)
    assert (sum("climbing, the" in prompt for prompt in house.asked), len(house.told)) == (1, 1)


def test_a_night_has_so_many_calls_also_where_the_model_fails(house: House):
    for habit in range(MOST_CALLS + 1):
        for days in (30, 20, 10):
            house.happened(f"habit{habit} again", days)
    working, house.answer = house.answer, Busy(429, "too many calls", "rate_limit_exceeded")
    house.night()
    house.answer = working
    house.night(0)
    house.night(0)
    assert (len(house.asked), len(house.told)) == (MOST_CALLS, MOST_CALLS - 1)
    house.night()
    assert len(house.told) == MOST_CALLS + 1


def test_a_habit_that_the_board_did_not_take_is_found_again_and_a_week_after_it_was_refused(house: House):
    house.climbed(30, 20, 10)
    house.night()
    for house.state in ("undeliverable", "cancelled", "waiting"):
        house.night()
    assert len(house.told) == 3
    house.state = "done"
    house.report = '{"code": "companion.chat", "why": "not for the owner"}'
    for _ in range(6):
        house.night()
    assert (len(house.asked), len(house.told)) == (3, 3)
    house.night(2)
    assert (len(house.asked), len(house.told)) == (4, 4)


def test_the_model_is_asked_at_night_only_and_if_the_board_can_be_told(house: House):
    house.climbed(30, 20, 10)
    house.night(-2 / 24)
    house.night(6 / 24)
    house.is_full = True
    house.night(20 / 24)
    assert house.asked == []
    house.is_full = False
    house.night(0)
    assert len(house.told) == 1


def test_a_service_that_fails_or_is_silent_ends_the_round(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(finder, "ANSWER_SECONDS", 0.01)
    house.climbed(30, 20, 10)
    house.store.replication.greet(
        Hello("landing", Sender("b2", 3, 9), 0, {"records": LogState(7, 1, 1, 0)}), house.now + DAY
    )
    house.answer = ServiceFailed(503, "down", "upstream_failed")
    house.night()
    house.answer = None
    house.night(0)
    assert (len(house.asked), house.store.values.get("habits.landing")) == (2, "")
    house.answer = {}
    house.night(0)
    assert house.store.values.get("habits.landing")


def test_a_habit_stays_while_its_lines_do(house: House):
    house.climbed(40, 30, 20, 10)
    house.night()
    house.keep()
    house.climbed(5)
    house.answer = {"for": [4, 5]}
    house.night()
    house.keep(id="m25")
    house.is_embedded = False
    house.lines.append(house.lines[20] | {"content": "climbing, corrected"})
    house.night()
    assert len(house.told) == 2


def test_people_and_workspaces_have_habits_of_their_own_also_from_notes(house: House):
    house.notes = {f"2026-11-0{day}~ann.md": f"climbing\n{day}{day} happened\n" for day in range(2, 9, 3)}
    for scope in ("user:ben", "ws:band"):
        house.fill(scope)
        house.climbed(30, 20, 10, scope=scope)
    house.night()
    callers = {(said.principal, said.workspace) for said in house.said.values()}
    assert callers == {("ann", ""), ("ben", ""), ("owner", "band")}
    cited = {told["scope"]: told["evidence"] for told in house.told}
    assert cited["user:ann"] == [f"2026-11-0{day}.md#1" for day in range(2, 9, 3)]
