"""A simulated month: three people and a group, restarts, power cuts and wrong clocks; nothing acknowledged is lost."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import get_micropython
import ledger
import life
import month
from ledger import Found, Ledger
from month import Month, Stage
from sharing import shared

SHORT_DAYS = 2
SHORT_SEED = 2
MONTH_SEED = 1
FLAT_BYTES = 6 << 10
"""So much more heap may be in use in the second half of a month than in the first: tables that grow with the log, bounded by
its cap, and what a collection happens to leave."""


@dataclass
class Played:
    """A play, and what was on the board in the end."""

    month: Month
    exports: dict[str, list[str]]
    found: Found
    end: int

    @property
    def settings(self) -> dict:
        return life.FORMS[self.month.ledger.form].settings


def _play(stage: Stage, folder: Path, days: int, seed: int) -> Played:
    flash = folder / "flash.bin"
    played = month.play(stage, flash, days, seed)
    exports = month.exports(stage, flash, days)
    return Played(played, exports, ledger.found(exports), life.moment(days, 0))


def _is_alike(one: Played, two: Played) -> bool:
    return one.month.days == two.month.days and one.exports == two.exports


def _keeps_within_caps(played: Played) -> None:
    caps = played.settings
    for day in played.month.days:
        assert day["records"] <= caps["records.most"], day
        assert day["records_bytes"] <= caps["records.bytes"], day
        assert day["notes_bytes"] <= caps["notes.bytes"], day
        # For each who may have some.
        assert day["intents"] <= life.FORMS[played.month.ledger.form].reminders, day
        # A segment more, until the oldest leaves.
        assert day["journal_bytes"] <= caps["journal.bytes"] * 9 // 8, day


def _shows_nobody_what_is_of_others(played: Played) -> None:
    for who, lines in played.exports.items():
        assert not [line for line in lines for other in life.MARKS if _is_of_another(line, who, other)]


def _is_of_another(line: str, who: str, other: str) -> bool:
    return line.startswith("{") and other not in (who, "group") and life.MARKS[other] in line


def _loses_nothing(played: Played) -> None:
    book = played.month.ledger
    assert not book.problems
    assert not book.missing(played.found, played.end)


def _reminds_once_a_day(played: Played) -> None:
    assert not played.month.ledger.hasty()


# --- two days


@pytest.fixture(scope="module")
def two_days(tmp_path_factory: pytest.TempPathFactory) -> Played:
    if not get_micropython.usable(get_micropython.HOME / "32", 32):
        pytest.skip("there is no 32-bit MicroPython for this machine")
    return shared(
        tmp_path_factory,
        "two-days",
        lambda: _play(Stage("short"), tmp_path_factory.mktemp("month"), SHORT_DAYS, SHORT_SEED),
    )


def test_two_days_keep_within_caps_that_they_reach(two_days: Played):
    _keeps_within_caps(two_days)


def test_two_days_lose_nothing_that_was_acknowledged(two_days: Played):
    _loses_nothing(two_days)


def test_two_days_show_nobody_what_is_of_others(two_days: Played):
    _shows_nobody_what_is_of_others(two_days)


def test_no_reminder_of_two_days_comes_twice_because_of_the_clock(two_days: Played):
    _reminds_once_a_day(two_days)


def test_two_days_have_all_that_may_go_wrong_in_them(two_days: Played):
    book, days = two_days.month.ledger, two_days.month.days
    happened = {
        "power cuts": two_days.month.cuts,
        "restarts": two_days.month.starts - two_days.month.cuts - len(days),
        "memories that left": sum(day["left"] for day in days),
        "memories taken back": book.counts["memories taken back"],
        "distillations": book.counts["distillations"],
        "notes": len(book.notes),
        "days of notes that left": len(book.note_files_gone),
        "intents": len(book.intents),
        "reminders": len(book.reminders),
    }
    assert not [what for what, count in happened.items() if not count]


def test_two_days_that_are_played_again_give_the_same_memory(two_days: Played, tmp_path: Path):
    assert _is_alike(two_days, _play(Stage("short"), tmp_path, SHORT_DAYS, SHORT_SEED))


# --- the ledger


def _kept(seq: int, **more) -> dict:
    return {"line": seq, "during": 0, "id": f"m{seq}", "content": f"fact {seq}", **more}


def _found(*numbers: int) -> Found:
    return Found(live={f"m{number}": f"fact {number}" for number in numbers})


@pytest.fixture
def book() -> Ledger:
    """A ledger with three memories, the third in place of the first."""
    book = Ledger("short")
    for line in (_kept(1), _kept(2), _kept(3, supersedes="m1")):
        book.line(line, "")
    return book


def test_what_is_as_it_was_acknowledged_is_not_missing(book: Ledger):
    assert not book.missing(_found(2, 3), 0)


@pytest.mark.parametrize("numbers", [(3,), (1, 2, 3), (2, 3, 4)], ids=["lost", "come back", "unknown"])
def test_a_memory_that_is_not_what_became_of_it_is_reported(book: Ledger, numbers: tuple[int, ...]):
    assert len(book.missing(_found(*numbers), 0)) == 1


def test_a_memory_with_another_text_is_reported(book: Ledger):
    assert book.missing(Found(live={"m2": "fact 2", "m3": "fact"}), 0) == ["m3 says fact"]


def test_of_what_left_the_last_has_to_be_kept(book: Ledger):
    book.line({"line": 4, "op": "leave", "id": "m2"}, "")
    assert book.missing(_found(3), 0) == ["of 1 that left none is kept"]
    assert not book.missing(Found(live={"m3": "fact 3"}, trash=["m2"]), 0)


def test_a_memory_that_goes_while_nobody_takes_it_back_is_reported(book: Ledger):
    book.line({"line": 4, "op": "forget", "id": "m3", "restores": "m1"}, "hello")
    assert book.problems == ["m3 went while somebody said: hello"]


def test_what_took_the_place_of_another_gives_it_back_when_it_is_taken_back(book: Ledger):
    book.line({"line": 4, "op": "forget", "id": "m3", "restores": "m1", "undoes": 3}, "/undo")
    assert not book.problems and not book.missing(_found(1, 2), 0)


def test_a_log_that_is_shorter_after_a_restart_is_reported(book: Ledger):
    book.opened(3)
    assert len(book.problems) == 1


def test_a_note_that_leaves_and_was_not_distilled_is_reported(book: Ledger):
    book.note_leaves("2026-09-20.md", 0)
    assert not book.problems
    book.note_leaves("2026-09-21.md", 1)
    assert len(book.problems) == 1


def test_a_note_is_missing_unless_its_day_left(book: Ledger):
    book.notes[9] = ("2026-09-20.md", "oiled")
    assert book.missing(_found(2, 3), 0) == ["2026-09-20.md: oiled"]
    book.note_leaves("2026-09-20.md", 0)
    assert not book.missing(_found(2, 3), 0)


def test_an_intent_and_a_turn_that_are_not_there_are_reported(book: Ledger):
    book.intents["w1"], book.turns[5] = 10, "hello"
    assert book.missing(_found(2, 3), 9) == ["w1", "t5: hello"]


def test_a_reminder_within_a_day_is_reported_unless_the_clock_was_changed(book: Ledger):
    assert life.reading(1, 9) == life.moment(1, 9) - 2 * life.DAY
    book.reminders = [(1, 5, "w1"), (1, 9, "w1"), (1, 15, "w1"), (2, 5, "w1")]
    assert book.hasty() == ["w1 came on day 2, turn 5, and within a day before"]


# --- a month


@pytest.mark.soak
def test_a_month_in_a_chips_heap_keeps_its_promises_and_gives_the_same_memory_when_it_is_played_again(tmp_path: Path):
    played = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        played.append(_play(Stage("month"), tmp_path / name, life.DAYS, MONTH_SEED))
    for promise in (_keeps_within_caps, _loses_nothing, _shows_nobody_what_is_of_others, _reminds_once_a_day):
        promise(played[0])
    heaps = played[0].month.heaps
    half = len(heaps) // 2
    assert max(heaps[half:]) <= max(heaps[:half]) + FLAT_BYTES, heaps
    assert played[0].month.cuts > 10 and played[0].month.ledger.reminders
    assert _is_alike(*played), json.dumps(played[0].month.days)
