"""A pattern that a companion found: tentative until a person or their agent changes it; its counterexamples let it leave."""

import json

from board import ANN, lines_of
from calls import equipped, run
from engram.memory.access import OWNER

FOUND = {"origin": "habits:1a2b", "tags": ["habit"], "type": "pattern"}


def _send(board, caller=OWNER, content="Goes climbing on Tuesdays", **fields):
    sent = dict(FOUND, content=content, updated=board.clock.now(), scope="user:" + caller.principal, **fields)
    return lines_of(board, "/import " + json.dumps(sent), caller)


def _with_pattern():
    board = equipped()
    _send(board, confidence=0.8, evidence=["m3", "2026-09-01.md#2"])
    return board


def test_a_tentative_pattern_is_shown_as_perhaps_and_asked_about_once():
    board = _with_pattern()
    first, second = (board.block("Which day do I go climbing?", OWNER, 500) for _ in range(2))
    assert "perhaps: Goes climbing on Tuesdays" in first and "perhaps: Goes climbing on Tuesdays" in second
    assert ("confirmed m1: ask the person once" in first, "confirmed" in second) == (True, False)


def test_a_change_by_the_agent_confirms_a_pattern():
    board = _with_pattern()
    run(board, "memory_update", id="m1", type="pattern")
    record = board.records.get("m1")
    assert "confidence" not in record and record["evidence"] == ["m3", "2026-09-01.md#2"]
    assert "perhaps" not in board.block("Which day do I go climbing?", OWNER, 500)


def test_only_a_change_that_names_a_confidence_leaves_a_pattern_tentative():
    board = _with_pattern()
    _send(board, confidence=0.6, evidence=["m3", "not m9"], partial=True)
    assert board.records.get("m1")["confidence"] == 0.6
    _send(board, content="Goes climbing on Wednesdays", partial=True)
    assert "confidence" not in board.records.get("m1")


def test_a_pattern_leaves_with_its_reason():
    board = _with_pattern()
    _send(board, confidence=0.4, evidence=["m3", "not m9", "not m12"], expires=board.clock.now(), partial=True)
    assert "Tuesdays" not in board.block("Which day do I go climbing?", OWNER, 500)
    lines = lines_of(board, "/memory show m1")
    assert "  evidence    m3, not m9, not m12" in lines and "  confidence  0.4" in lines
    assert lines[-1] == "  left        2026-09-21 14:13, more of its evidence speaks against it than for it"


def test_a_pattern_is_its_persons_only():
    board = equipped()
    _send(board, ANN, confidence=0.8)
    assert "perhaps" in board.block("Which day do I go climbing?", ANN, 500)
    assert "perhaps" not in board.block("Which day do I go climbing?", OWNER, 500)
