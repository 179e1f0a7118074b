"""The commands that look after the memory: /pin, /note, /distill, /clear."""

from board import ANN, ROOM, Board, Script, commands_of, lines_of
from engram.errors import ArgumentError
from engram.memory.access import OWNER
from learners import contents
from support import raises


def _board(**limits):
    board = Board(**limits)
    board.serve()
    board.commands = commands_of(board)
    return board


def _today(board, caller=OWNER):
    notebook = board.notes.for_caller(caller)
    return notebook.text(notebook.today())


def test_a_pin_is_set_and_taken_away():
    board = _board()
    ref = board.records.store("the cellar door sticks", ["house"]).id
    assert lines_of(board, "/pin " + ref) == [ref + " is pinned: the cellar door sticks"]
    assert board.records.get(ref)["pinned"]
    assert lines_of(board, "/pin " + ref) == [ref + " is already pinned"]
    lines_of(board, "/pin %s off" % ref)
    assert not board.records.get(ref).get("pinned")


def test_in_a_group_there_are_no_notes():
    board = _board()
    for line in ("/note hello", "/clear", "/distill"):
        with raises(ArgumentError):
            lines_of(board, line, ROOM)


def test_clear_empties_the_days_notes_and_nothing_else():
    board = _board()
    board.records.store("the cellar door sticks", ["house"])
    board.notes.for_caller(OWNER).append("MEMORY.md", "lasting")
    board.notes.for_caller(ANN).note("of ann")
    for content in ("one", "two"):
        lines_of(board, "/note " + content)
    told = lines_of(board, "/clear")[0]
    assert "notes: 2" in told
    assert _today(board) == "" and "of ann" in _today(board, ANN)
    assert contents(board) == ["the cellar door sticks"] and "lasting" in board.notes.for_caller(OWNER).text(
        "MEMORY.md"
    )


def test_distill_without_a_model_says_that_it_waits():
    board = _board()
    lines_of(board, "/note one")
    assert "notes waiting: 1; distilling them needs a model" in lines_of(board, "/distill")[0]
    assert board.note_retention.waiting() == {"owner": 1}


async def test_distill_shows_what_came_of_it():
    board = Board()
    board.learn(Script('[{"op":"add","from":["e1"],"content":"Ann drinks green tea","tags":["habit"]}]'))
    board.commands = commands_of(board)
    lines_of(board, "/note Ann drinks green tea")
    told = []
    for output in board.commands.run(OWNER, "/distill"):
        if isinstance(output, int):
            await board.distillation.step()
        else:
            told.append(output)
    assert "notes read: 1; added: 1 (m" in told[1] and told[2] == "each /undo takes back one of these"
