"""What each field of a record may hold: a wrong value is refused by the field's name, before anything is written."""

from board import Board
from engram.errors import ArgumentError, NotFound
from support import raises

GOOD = {"content": "The bike is green", "tags": ["bike"]}

WRONG = (
    ("content", "", "must be a text that is not empty"),
    ("content", " \n\t", "must be a text that is not empty"),
    ("content", 5, "must be a text"),
    ("content", None, "must be a text"),
    ("content", "a\0b", "NUL"),
    ("content", "x" * 2001, "has 2001 characters, at most 2000"),
    ("tags", [], "1 to 3 tags are needed"),
    ("tags", ["", " # "], "1 to 3 tags are needed"),
    ("tags", ["a", "b", "c", "d"], "at most 3 are taken, these are 4"),
    ("tags", 7, "must be a list of texts"),
    ("tags", [7], "each must be a text of 1 to 32 characters"),
    ("tags", ["x" * 33], "each must be a text of 1 to 32 characters"),
    ("tags", ["a\0"], "each must be a text"),
    ("keywords", {"a": 1}, "must be a list of texts"),
    ("keywords", ["x" * 41], "each must be a text of 1 to 40 characters"),
    ("keywords", [f"{n}" for n in range(9)], "at most 8 are taken, these are 9"),
    ("type", "opinion", "must be one of fact, decision"),
    ("type", [], "must be one of"),
    ("source", "guess", "must be one of manual, auto_llm"),
    ("importance", 1.01, "must be a number from 0 to 1"),
    ("importance", -1, "must be a number from 0 to 1"),
    ("importance", True, "must be a number from 0 to 1"),
    ("importance", "high", "must be a number from 0 to 1"),
    ("importance", float("nan"), "must be a number from 0 to 1"),
    ("confidence", 1.5, "must be a number from 0 to 1"),
    ("evidence", ["m1" * 13], "each must be a text of 1 to 24 characters"),
    ("evidence", [f"m{n}" for n in range(11)], "at most 10 are taken"),
    ("pinned", 1, "must be true or false"),
    ("expires", "2026-01-31", "must be a time in Unix seconds"),
    ("expires", 1.5, "must be a time in Unix seconds"),
    ("expires", -1, "must be a time in Unix seconds"),
    ("expires", True, "must be a time in Unix seconds"),
    ("supersedes", "12", "12 is not the id of a memory, which looks like m12"),
    ("supersedes", "t12", "t12 is not the id of a memory"),
    ("supersedes", 12, "this is not the id of a memory"),
    ("supersedes", "m" + "1" * 10, "is not the id of a memory"),
    ("supersedes", "m²", "is not the id of a memory"),
    ("turns", "t1", "must be a list of turn ids"),
    ("turns", ["m1"], "m1 is not the id of a turn, which looks like t12"),
    ("scope", "everyone", "must be all, user:NAME or ws:ID"),
    ("scope", None, "must be all, user:NAME or ws:ID"),
    ("colour", "red", "there is no such field; a memory has confidence, content, evidence"),
)


def _given(name, value):
    given = dict(GOOD)
    given[name] = value
    return given


def test_each_wrong_value_is_refused_by_its_fields_name():
    records = Board().records
    for name, value, problem in WRONG:
        with raises(ArgumentError) as caught:
            records.store(**_given(name, value))
        assert caught.error.argument == name, (name, value, caught.error)
        assert problem in caught.error.problem, (name, value, caught.error)


def test_superseding_what_does_not_exist_is_refused():
    with raises(NotFound) as caught:
        Board().records.store("x", ["a"], supersedes="m7")
    assert "m7" in str(caught.error)


def test_content_of_the_longest_length_is_kept_whole():
    limit = 2000
    for letter in ("x", "字", "\x01"):
        board = Board()
        ref = board.records.store(letter * (limit - 1) + "x", ["a"]).id
        board.restart()
        assert board.records.get(ref)["content"] == letter * (limit - 1) + "x"
