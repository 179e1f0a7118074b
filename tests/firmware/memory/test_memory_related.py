"""A word that no entry has finds words that begin like it, or its own last part, below exact ones."""

from board import Board
from engram.memory.access import OWNER
from engram.memory.recall import is_certain, make_query

FORMS = (
    ("De wachtwoorden liggen in de lade.", "Waar is het wachtwoord?"),
    ("O hospital fica na rua do Sol.", "Onde são os hospitais?"),
    ("La riunione comincia alle nove.", "A che ora cominciano le riunioni?"),
    ("Spotkanie zaczyna się o dziewiątej.", "Kiedy są spotkania?"),
    ("Соседка хранит запасной ключ.", "Что у соседей?"),
    ("Unsere Nachbarn heißen Krämer.", "Wer ist der Nachbar?"),
    ("Die Versicherung läuft im März aus.", "Was ist mit der Hausratversicherung?"),
)


def _found(board, query):
    ranked = board.recall.rank(make_query(query, OWNER))
    return [item.text for item in board.recall.find(ranked, 5)], is_certain(ranked)


def test_a_word_is_found_by_others_that_begin_alike_and_by_its_last_part():
    for others in (0, 120):  # in RAM alone, and in a table
        board = Board()
        for fact, _ in FORMS:
            board.records.store(fact, ["note"])
        for number in range(others):
            board.records.store("%d lamps" % number, ["note"])
        assert bool(board.records.entries.index.tables) == bool(others)
        for fact, question in FORMS:
            assert fact == _found(board, question)[0][0], question


def test_an_exact_word_is_found_alone():
    board = Board()
    for fact in ("the photographer called", "the photographs are in the attic"):
        board.records.store(fact, ["note"])
    assert _found(board, "photographs?") == (["the photographs are in the attic"], True)
    assert len(_found(board, "photography?")[0]) == 2


def test_an_unknown_word_hides_no_hit_of_the_others():
    board = Board()
    for number in range(8):
        board.records.store("lamp %d, photographed" % number, ["note"])
    ranked = board.recall.rank(make_query("lamp photographs?", OWNER))
    assert len(board.recall.find(ranked, 10)) == 8
