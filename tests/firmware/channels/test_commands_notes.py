"""The commands that look after the memory: /pin, /note, /distill, /clear."""

from board import ANN, ROOM, Board, Script, commands_of
from engram.errors import ArgumentError, NotFound
from engram.memory.access import OWNER
from learners import contents
from support import raises


def _board(**limits):
    board = Board(**limits)
    board.serve()
    board.commands = commands_of(board)
    return board


def _told(board, line, caller=OWNER):
    return [output for output in board.commands.run(caller, line) if isinstance(output, str)]


def _today(board, caller=OWNER):
    notebook = board.notes.for_caller(caller)
    return notebook.text(notebook.today())


def test_a_pin_is_set_and_taken_away():
    board = _board()
    ref = board.records.store("the cellar door sticks", ["house"]).id
    assert _told(board, "/pin " + ref) == [ref + " is pinned: the cellar door sticks"]
    assert board.records.get(ref)["pinned"]
    assert _told(board, "/pin " + ref) == [ref + " is already pinned"]
    _told(board, "/pin %s off" % ref)
    assert not board.records.get(ref).get("pinned")


def test_a_pin_holds_against_want_of_room():
    board = _board(records_most=2)
    ref = board.records.store("the cellar door sticks", ["house"], importance=0).id
    _told(board, "/pin " + ref)
    for content in ("the lamp hums", "seven blue boats", "a piano in the hall"):
        board.records.store(content, ["t"], importance=1)
    assert "the cellar door sticks" in contents(board)


def test_nobody_pins_what_they_may_not_see():
    board = _board()
    ref = board.records.store("the cellar door sticks", ["house"], OWNER).id
    with raises(NotFound):
        _told(board, "/pin " + ref, ANN)


def test_a_pin_without_an_id_says_what_it_needs():
    with raises(ArgumentError) as caught:
        _told(_board(), "/pin")
    assert "m12" in str(caught.error)


def test_a_note_goes_into_the_callers_own_day():
    board = _board()
    _told(board, "/note watered the plants", ANN)
    assert "watered the plants" in _today(board, ANN) and _today(board) == ""


def test_in_a_group_there_are_no_notes():
    board = _board()
    for line in ("/note hello", "/clear", "/distill"):
        with raises(ArgumentError):
            _told(board, line, ROOM)


def test_clear_empties_the_days_notes_and_nothing_else():
    board = _board()
    board.records.store("the cellar door sticks", ["house"])
    board.notes.for_caller(OWNER).append("MEMORY.md", "lasting")
    board.notes.for_caller(ANN).note("of ann")
    for content in ("one", "two"):
        _told(board, "/note " + content)
    told = _told(board, "/clear")[0]
    assert "notes: 2" in told
    assert _today(board) == "" and "of ann" in _today(board, ANN)
    assert contents(board) == ["the cellar door sticks"] and "lasting" in board.notes.for_caller(OWNER).text(
        "MEMORY.md"
    )


def test_what_was_cleared_comes_back_by_undo():
    board = _board()
    _told(board, "/note one")
    before = _today(board)
    _told(board, "/clear")
    board.restart()
    board.undo.undo()
    assert _today(board) == before and board.note_retention.waiting() == {"owner": 1}


def test_clear_takes_a_day_and_nothing_that_is_none():
    board = _board()
    _told(board, "/note one")
    assert "has no notes" in _told(board, "/clear 2026-01-31")[0]
    for wrong in ("../secrets", "MEMORY", "2026-02-31", "all"):
        with raises(ArgumentError):
            _told(board, "/clear " + wrong)


def test_distill_says_that_nothing_waits():
    assert "no note is waiting" in _told(_board(), "/distill")[0]


def test_distill_without_a_model_says_that_it_waits():
    board = _board()
    _told(board, "/note one")
    assert "notes waiting: 1; distilling them needs a model" in _told(board, "/distill")[0]
    assert board.note_retention.waiting() == {"owner": 1}


def test_distill_in_lightweight_mode_says_how_to_change_it():
    board = Board()
    board.serve(mode="lightweight")
    board.commands = commands_of(board)
    with raises(ArgumentError) as caught:
        _told(board, "/distill")
    assert "/mode full" in str(caught.error)


async def test_distill_shows_what_came_of_it():
    board = Board()
    board.learn(Script('[{"op":"add","from":["e1"],"content":"Ann drinks green tea","tags":["habit"]}]'))
    board.commands = commands_of(board)
    _told(board, "/note Ann drinks green tea")
    told = []
    for output in board.commands.run(OWNER, "/distill"):
        if isinstance(output, int):
            await board.distillation.step()
        else:
            told.append(output)
    assert "notes read: 1; added: 1 (m" in told[1] and told[2] == "/undo undoes all of it"
