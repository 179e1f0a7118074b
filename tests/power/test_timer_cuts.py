"""The power fails while timers are set, due and told: each due one is told once, and what is confirmed is on flash.

The invariant, of each due moment of a timer: it is told if and only if the journal has a line with its id, and the outbox has
had the seq of that before. The file has the moment until then. So a cut at any write leaves it to be told, or told.
"""

from pathlib import Path

import pytest

from board_program import BoardProgram, Told
from extent import extent

SHORT = 4
PERHAPS = "(perhaps for the second time) "
START, HOUR, DAY = 1790000000, 3600, 86400


def _named(told: Told, name: str) -> list:
    return [line[1:] for line in told if line[0] == name]


def _plain(text: str) -> str:
    """A text without its marks: that it may be the second copy, and how long it waited."""
    while text.startswith("("):
        text = text.partition(") ")[2]
    return text


def _is_whole(told: Told) -> None:
    assert _named(told, "left") == [[0]]
    lines = [line for (line,) in _named(told, "line")]
    pushed = [line for line in lines if "to" in line]
    sent = [text for _, text in _named(told, "sent")]
    texts = [_plain(line["text"]).partition(", was due")[0] for line in pushed]

    def count(what: str) -> int:
        return sum(text.startswith(what) for text in texts)

    hours = (_named(told, "ended")[0][0] - START) // HOUR
    assert hours > 49
    assert count("reminder: once") == 1
    assert count("reminder: daily") == 2
    assert count("reminder: often") == (hours - 1) // 6
    assert count("reminder: gone") == 0, texts
    for asked in ("what is on?", "how is it?"):
        assert count(f"this answers {asked}") + count(f"{asked} was broken off") == 1, (asked, texts)
    _are_calls_told(_named(told, "called"), texts)
    # What was confirmed is there or was told, what was removed is not.
    left = [what for what, _ in _named(told, "timers")[0][0]]
    assert sorted(left) == ["daily", "how is it?", "often"]
    _are_delivered_once(pushed, sent)
    _are_turns_once(lines)


def _are_calls_told(called: list, texts: list[str]) -> None:
    for name, fails in (("lamp", False), ("pump", True)):
        calls = called.count([name])
        unsure = sum(text.startswith(f"{name} {{}} was broken off") for text in texts)
        failed = sum(text.startswith(f"{name} {{}} failed: it is dry.") for text in texts)
        assert calls <= 1, called
        assert unsure + (failed if fails else calls) >= 1, (name, called, texts)
        assert unsure <= 1 and failed <= 1 and (unsure + failed <= 1 or not fails), texts


def _are_delivered_once(pushed: list[dict], sent: list[str]) -> None:
    for line in pushed:
        copies = [text for text in sent if _plain(text) == _plain(line["text"])]
        same = [other for other in pushed if _plain(other["text"]) == _plain(line["text"])]
        assert len(copies) >= len(same), (line, sent)
        assert len([text for text in copies if PERHAPS.strip("() ") not in text]) <= len(same), (line, sent)


def _are_turns_once(lines: list[dict]) -> None:
    mids = [line["mid"] for line in lines if "mid" in line]
    assert len(mids) == len(set(mids)), mids
    assert len([mid for mid in mids if mid.endswith(":turn")]) <= 2, mids


PROGRAM = BoardProgram("timer_board.py", "2m", _is_whole)


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> range:
    """The changes of the flash from where the board is open: test_power_cuts.py tries those before."""
    figures = PROGRAM.figures(tmp_path_factory.mktemp("timers"))
    return range(figures["opened"] + 1, figures["changes"])


@pytest.mark.shortened
def test_after_any_cut_each_due_timer_is_told_once(changes: range, tmp_path: Path):
    PROGRAM.try_cuts(changes[:: extent(1, max(1, len(changes) // SHORT))], tmp_path)
