"""A day of four people in two groups, with power cuts and a link that fails: each message is accounted for, and scopes hold."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import telegram_day
from chatting import chatting
from skips import needs_32_bit
from telegram_day import Day, Ledger

pytestmark = needs_32_bit


def play(folder: Path, seed: int, count: int, rate: int, faults: list[tuple[str, str]], cuts: Sequence[str]) -> Ledger:
    """Play a day; what came of its messages."""
    with chatting(folder, *telegram_day.RULES, reads_all=True, people__rate=rate) as talk:
        day = Day(talk, seed, count, rate)
        try:
            day.play(faults, cuts)
        except (AssertionError, TimeoutError):
            raise AssertionError(f"seed {seed}: {day.account().problems}\n{talk.story()}") from None
        ledger = day.account()
        leaks = day.leaks()
        talk.kill()
        figures = f"seed {seed}: {sum(ledger.outcomes.values())} {dict(ledger.outcomes)}; {dict(day.happened)}"
        print(figures)  # noqa: T201
        assert not ledger.problems + leaks + day.journal_problems(), figures
    return ledger


def test_a_few_messages_are_all_accounted_for(tmp_path: Path):
    faults = [("flood", "sendMessage"), ("cut_after", "sendMessage"), ("fail", ""), ("cut_within", "getUpdates")]
    play(tmp_path, 1, 24, 10, faults, ["sendMessage", "model"])


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_hundred_messages_are_all_accounted_for(tmp_path: Path, seed: int):
    faults = [(kind, method) for kind in telegram_day.LINK_FAULTS for method in telegram_day.METHODS]
    faults += [("outage", ""), ("cable", "")] * 2
    play(tmp_path, seed, 200, 12, faults, telegram_day.CUTS * 3)
