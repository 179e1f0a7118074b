"""What a score is made of."""

from board import Board
from engram.memory.access import OWNER
from engram.memory.confidence import MadeOf
from engram.memory.recall import make_query

SAID = ("my bike is green and fast", "I planted tomatoes", "the bike is red", "green tea is good", "we went to the sea")


def _board():
    board = Board()
    for number, text in enumerate(SAID):
        board.journal.add(OWNER, "user", ("Ann", "Ben")[number % 2], text)
    board.records.store("the green bike was bought in May", ["bike"])
    return board


def _explained(board, query):
    made_of = MadeOf({}, {})
    return list(board.recall.explain(board.recall.rank(make_query(query, OWNER), made_of), made_of))


def test_what_is_explained_is_what_is_found():
    board = _board()
    items = [item for item, _ in _explained(board, "green bike")]
    assert items == board.find("green bike", OWNER) and len(items) >= 4


def test_the_parts_add_up_to_the_score():
    for item, parts in _explained(_board(), "green bike of Ann"):
        total = sum(points for _, points in parts)
        assert item.score - len(parts) - 1 <= total <= item.score


def test_each_word_of_the_query_that_is_there_is_named():
    found = {item.text: dict(parts) for item, parts in _explained(_board(), "green bike sea")}
    assert {"green", "bike"} <= set(found[SAID[0]]) and "sea" not in found[SAID[0]]


def test_words_are_named_as_the_query_has_them():
    board = _board()
    board.records.store("my databases run on the old-fashioned server", ["it"])
    (found,) = [dict(parts) for item, parts in _explained(board, "Databases, old-fashioned!") if item.id == "m2"]
    assert set(found) == {"Databases", "old-fashioned"}


def test_what_comes_from_the_session_its_turns_and_the_speaker_is_named():
    found = {item.text: dict(parts) for item, parts in _explained(_board(), "green bike of Ann")}
    assert found[SAID[0]]["its session"] > 0 and found[SAID[0]]["its speaker"] > 0
    assert found[SAID[1]]["the turns beside it"] > 0 and "its speaker" not in found[SAID[1]]


def test_it_is_the_same_from_ram_and_from_flash():
    board = _board()
    before = _explained(board, "green bike")
    board.compact()
    after = _explained(board, "green bike")
    assert [item.id for item, _ in after] == [item.id for item, _ in before]
    assert [[what for what, _ in parts] for _, parts in after] == [[what for what, _ in parts] for _, parts in before]
