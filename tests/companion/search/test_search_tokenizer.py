"""Words as numbers are the board's own, and identifiers are found whole and by part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import text as board
from engram_host.companion.search import tokenizer as search_words
from engram_host.companion.search.tokenizer import Tokenizer, identifier_terms, term_id
from one_case import in_one_case
from search_store import SearchStore, asked, engine_of, ids, turn

PIECES = st.text(st.sampled_from("aAbZ09 '\n\t._-/é猫自行車ไทย👍🏽😀ßŁ한\u2019"), max_size=40) | st.text(max_size=30)
KNOWN = Tokenizer()


@pytest.mark.parametrize("singles", [False, True])
@given(text=PIECES)
def test_a_text_has_the_terms_that_the_board_gives_it(text: str, singles: bool):
    counted, _ = KNOWN.term_ids(text, singles)
    assert counted == [term_id(term) for term in board.terms(text, singles)]


@given(texts=st.lists(PIECES, max_size=4))
def test_texts_joined_by_a_space_have_the_terms_of_each(texts: list[str]):
    counted, _ = KNOWN.term_ids(" ".join(texts))
    assert counted == [term_id(term) for text in texts for term in board.terms(text)]


def test_what_is_remembered_of_pieces_has_a_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_words, "MOST_BYTES", 10_000)
    known = Tokenizer()
    for number in range(1000):
        known.term_ids(f"word{number} snake_case_{number}")
    assert known.nbytes <= 11_000


@in_one_case(
    "name, added",
    [
        ("getUserName", {"get", "user", "nam"}),
        ("E_CONN_42", {"e_conn_42"}),
        ("src/main.py", {"src/main.py", "main.py"}),
        ("(std::vector)", {"std::vector"}),
        ("HTTPServer", {"http", "server"}),
        ("well-known", set()),
        ("Hello", set()),
        ("don't", set()),
        ("9:30", set()),
    ],
)
def test_an_identifier_adds_its_whole_and_its_parts(name: str, added: set[str]):
    assert set(identifier_terms(name)) == added


@in_one_case(
    "query",
    ["getUserName", "get user name", "username getUserName()", "E_CONN_42", "conn", "src/main.py", "main.py", "main"],
)
def test_a_turn_is_found_by_an_identifier_whole_and_by_part(query: str):
    store = SearchStore()
    store.put_all(
        "b", [turn(1, "nothing of the kind"), turn(2, "getUserName fails with E_CONN_42 in src/main.py", "s5")]
    )
    assert ids(engine_of(store).search(asked(query)))[0] == "t2"
