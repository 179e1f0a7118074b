"""The power fails while people talk to a board through a network that loses and doubles: each message is answered once, or
what nobody knows is told.
"""

from pathlib import Path

import pytest

from board_program import BoardProgram, Told
from extent import extent

NETWORK = 100000
MESSAGES = 10
COMMANDS = {2: "the bike is green", 7: "", 10: "the door is blue"}
"""Those that change something, and what only their outcome says."""
READS = {5}
SHORT = 3
PERHAPS = "perhaps for the second time"
NOT_AGAIN = "not carried out again"


def _is_whole(told: Told) -> None:
    lines = [line[1] for line in told if line[0] == "line"]
    sent = [(line[1], line[2]) for line in told if line[0] == "sent"]
    left, confirmed = next(line[1:] for line in told if line[0] == "left")
    assert (left, confirmed) == (0, MESSAGES)
    for number in range(1, MESSAGES + 1):
        of_it = [line for line in lines if line.get("mid", "").endswith(f":{number}")]
        answers = [text for address, text in sent if address.endswith(f":{number}")]
        assert len(of_it) == (0 if number in READS else 1), of_it
        assert answers, number
        if number in COMMANDS:
            assert len([text for text in answers if NOT_AGAIN not in text]) <= 1, answers
        elif number not in READS:
            _is_answered_once(of_it[0], answers, lines)
    _are_pushes_sent(lines, sent)
    _are_sessions_whole(lines)
    notes = next(line[1] for line in told if line[0] == "notes")
    assert [note.count("green") + note.count("blue") for note in notes] in ([1, 1], [0, 1], [1, 0], [0, 0]), notes
    for note, number in zip(notes, (2, 10), strict=True):
        was_told = any(NOT_AGAIN in text for address, text in sent if address.endswith(f":{number}"))
        assert note or was_told, (number, notes)


def _is_answered_once(line: dict, answers: list[str], lines: list[dict]) -> None:
    replies = [
        other
        for other in lines
        if other.get("role") == "assistant" and "to" not in other and other.get("re", other["prev"]) == line["seq"]
    ]
    if "fails" in line["text"] and not replies:
        assert all(text.startswith("[problem") for text in answers), answers
        return
    assert len(replies) == 1, [line, replies]
    assert replies[0]["text"].endswith(line["text"])
    given = [text for text in answers if text.endswith(replies[0]["text"])]
    assert len([text for text in given if PERHAPS not in text]) <= 1 <= len(given), answers
    assert all(text.startswith("[problem") for text in answers if text not in given), answers


def _are_pushes_sent(lines: list[dict], sent: list[tuple[str, str]]) -> None:
    pushed = [line for line in lines if "to" in line]
    texts = [text for address, text in sent if address == "net 5"]
    assert len([text for text in texts if PERHAPS not in text]) <= len(pushed) <= len(texts), [pushed, texts]


def _are_sessions_whole(lines: list[dict]) -> None:
    newest: dict[str, dict] = {}
    for line in lines:
        if "role" in line:
            before = newest.get(line["sid"])
            assert (line["prev"], line["n"]) == ((before["seq"], before["n"] + 1) if before else (0, 0)), line
            newest[line["sid"]] = line


PROGRAM = BoardProgram("channel_board.py", "2m", _is_whole)


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    return PROGRAM.figures(tmp_path_factory.mktemp("channel"))


@pytest.mark.shortened
def test_after_any_cut_each_message_is_answered_once_or_told(figures: dict[str, int], tmp_path: Path):
    # The changes of the flash from where the board is open: test_power_cuts.py tries those before.
    of_flash = range(figures["opened"] + 1, figures["changes"])
    of_network = range(NETWORK + 2, NETWORK + 2 * figures["steps"])
    for cuts in (of_flash, of_network):
        PROGRAM.try_cuts(cuts[:: extent(1, max(1, len(cuts) // SHORT))], tmp_path)
