"""The commands that look after the memory: /pin, /note, /distill, /clear, /dedupe."""

from board import ANN, NOW, ROOM, Board, Script, commands_of
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
    _told(board, "/unpin " + ref)
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
    assert "notes: 2, not distilled yet: 2" in told
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


def test_of_two_that_say_the_same_the_lesser_one_goes():
    board = _board()
    kept = board.records.store("Ann is allergic to nuts", ["health"], importance=0.9).id
    lesser = _twin(board, "Ann is allergic to nuts", importance=0.4)
    told = _told(board, "/dedupe")
    assert f"forgot {lesser}, which says the same as {kept}: " in told[0]
    assert contents(board) == ["Ann is allergic to nuts"] and board.records.get(kept)["importance"] == 0.9


def test_a_pinned_one_stays():
    board = _board()
    board.records.store("Ann is allergic to nuts", ["health"], importance=0.9)
    pinned = _twin(board, "Ann is allergic to nuts", importance=0.1, pinned=True)
    _told(board, "/dedupe")
    assert [record["id"] for record in board.records.newest()] == [pinned]


def test_of_several_that_say_the_same_one_stays():
    board = _board()
    for _ in range(4):
        _twin(board, "Ann is allergic to nuts")
    _told(board, "/dedupe")
    assert contents(board) == ["Ann is allergic to nuts"]


def test_those_of_other_scopes_are_no_twins():
    board = _board()
    _twin(board, "Ann is allergic to nuts", scope="user:ann")
    _twin(board, "Ann is allergic to nuts", scope="user:owner")
    assert "no two say the same" in _told(board, "/dedupe")[0]
    assert "no two say the same" in _told(board, "/dedupe", ANN)[0]


def test_what_differs_stays():
    board = _board()
    for content in ("Box 3 is in the attic", "Box 4 is in the attic", "Ann owns a boat"):
        _twin(board, content)
    _told(board, "/dedupe")
    assert len(contents(board)) == 3


def test_undo_brings_a_twin_back():
    board = _board()
    for _ in range(2):
        _twin(board, "Ann is allergic to nuts")
    _told(board, "/dedupe")
    board.undo.undo()
    assert len(contents(board)) == 2


def _twin(board, content, **more):
    """Keep a memory whatever there is already, as an import does."""
    draft = board.records.draft(content, ["t"], **more)
    return board.records.keep((draft,))[0]


def _twins(board, first, second):
    """Two memories that say the same, with some fields each; their ids."""
    refs = [board.remember("the key is under the mat", ["t"]) for _ in range(2)]
    for ref, changes in zip(refs, (first, second)):
        board.records.update(ref, changes)
    return refs


def test_dedupe_keeps_what_lasts():
    for first, second in (({"expires": NOW + 9}, {}), ({}, {"expires": NOW + 9})):
        for more in ({}, {"importance": 1}, {"pinned": True}):
            board = _board()
            _twins(board, dict(first, **(more if first else {})), dict(second, **(more if second else {})))
            _told(board, "/dedupe")
            board.now += 10
            assert contents(board) == ["the key is under the mat"], (first, second, more)


def test_dedupe_lets_none_of_two_pinned_ones_go():
    board = _board()
    _twins(board, {"pinned": True}, {"pinned": True})
    assert _told(board, "/dedupe") == ["memories compared: 2; no two say the same"] and board.records.count() == 2


def test_what_dedupe_keeps_is_found_by_the_tags_and_keywords_of_what_went():
    board = _board()
    kept, gone = _twins(
        board,
        {"pinned": True, "tags": ["a", "b"], "keywords": ["one"]},
        {"tags": ["b", "c", "d"], "keywords": ["two"]},
    )
    _told(board, "/dedupe")
    record = board.records.get(kept)
    assert record["tags"] == ["a", "b", "c"] and record["keywords"] == ["one", "two"]
    _told(board, "/undo")
    _told(board, "/undo")
    assert board.records.get(kept)["tags"] == ["a", "b"] and board.records.get(gone)["tags"] == ["b", "c", "d"]
