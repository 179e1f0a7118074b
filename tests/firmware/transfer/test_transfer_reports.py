"""An import's reports for programs: what became of each line, without a sentence that has to be read."""

import json

from engram.memory.access import OWNER
from movers import mover, put


def _reports(board, rest, caller=OWNER):
    """The objects that an import answers: of refused lines, and of the whole."""
    return [output for output in board.commands.run(caller, "/import " + rest) if isinstance(output, dict)]


def _import_object(board, caller=OWNER, **fields):
    return _reports(board, json.dumps(fields), caller)


def _import_file(board, lines):
    put(board, lines)
    return _reports(board, "in.jsonl")


def _counts(report):
    """The outcomes that there were."""
    return {outcome: count for outcome, count in report["counts"].items() if count}


def test_a_changed_memory_is_reported_with_its_id_and_one_that_is_there_without():
    board = mover()
    line = {"content": "Bob sings", "origin": "x:1", "created": 5, "updated": 5}
    _import_object(board, **line)
    line.update({"content": "Bob dances", "updated": 9})
    (report,) = _import_object(board, **line)
    assert _counts(report) == {"changed": 1} and report["ids"] == ["m1"]
    (report,) = _import_object(board, **line)
    assert _counts(report) == {"there already": 1} and report["ids"] == []


def test_a_refused_line_is_reported_with_its_number_a_code_and_a_sentence():
    lines = [{"content": "Ann plays chess"}, {"content": "x", "importance": 2}, "{", {"content": "x", "createdAt": 5}]
    *refused, report = _import_file(mover(), lines)
    assert [(one["line"], one["code"]) for one in refused] == [(2, "importance"), (3, "line"), (4, "foreign")]
    assert refused[0]["why"] == "importance: must be a number from 0 to 1."
    assert refused[1]["why"] == "is no JSON object."
    assert _counts(report) == {"stored": 1, "refused": 3}


def test_the_hundred_first_refused_lines_are_reported_and_all_are_counted():
    *refused, report = _import_file(mover(), ["{"] * 120)
    assert len(refused) == 100 and _counts(report) == {"refused": 120}


def test_a_line_that_memory_has_no_room_for_is_reported_as_full():
    board = mover(records_most=4)
    lines = [{"content": "thing number %d" % number} for number in range(9)]
    _, last = _import_file(board, lines)
    assert (last["line"], last["code"]) == (5, "full") and last["why"].startswith("memory is full")
