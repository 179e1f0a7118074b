"""An import's reports for programs: what became of an object, without a sentence that has to be read."""

import json

from engram.memory.access import OWNER
from movers import mover


def _import(board, **fields):
    """Return the object that an import answers."""
    (report,) = [said for said in board.commands.run(OWNER, "/import " + json.dumps(fields)) if isinstance(said, dict)]
    return report


def test_a_changed_memory_is_reported_with_its_id_and_one_that_is_there_without():
    board = mover()
    line = {"content": "Bob sings", "origin": "x:1", "created": 5, "updated": 5}
    _import(board, **line)
    line.update({"content": "Bob dances", "updated": 9})
    report = _import(board, **line)
    assert report["counts"] == {"changed": 1} and report["ids"] == ["m1"]
    report = _import(board, **line)
    assert report["counts"] == {"there already": 1} and report["ids"] == []


def test_a_refused_object_is_reported_with_a_code_and_a_sentence():
    report = _import(mover(), content="x", importance=2)
    assert report == {"code": "importance", "why": "importance: must be a number from 0 to 1."}


def test_a_memory_that_there_is_no_room_for_is_reported_as_full():
    board = mover(records_most=4)
    for number in range(4):
        _import(board, content="thing number %d" % number)
    report = _import(board, content="one more")
    assert report["code"] == "full" and report["why"].startswith("memory is full")
