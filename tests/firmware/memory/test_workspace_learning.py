"""In a workspace what is learned and noted belongs to it, and to nobody's private memory."""

from board import ANN, Board
from engram.agent import phrase_rules
from engram.errors import ArgumentError
from engram.memory import access, caller_check
from engram.memory.access import OWNER, Caller

GARDEN = Caller("ann", "chat#1", False, "garden")
OTHER = Caller("bob", "chat#2", False, "garden")


def test_a_note_is_the_workspaces():
    board = Board()
    board.notes.for_caller(GARDEN).note("the beds are dug")
    assert "the beds are dug" in board.notes.for_caller(OTHER).text(board.notes.for_caller(OTHER).today())
    for outside in (ANN, OWNER):
        notebook = board.notes.for_caller(outside)
        assert notebook.text(notebook.today()) == ""


def test_a_note_of_a_workspace_is_found_there_only():
    board = Board()
    board.notes.for_caller(GARDEN).note("the beds are dug")
    assert board.find("beds", OTHER) and not board.find("beds", ANN)


def test_a_member_undoes_a_note_of_the_workspace():
    board = Board()
    board.notes.for_caller(GARDEN).note("the beds are dug")
    board.undo.undo(OTHER)
    assert board.notes.for_caller(GARDEN).text(board.notes.for_caller(GARDEN).today()).strip() == ""


def test_what_a_rule_takes_from_a_sentence_is_the_workspaces_and_what_was_asked_for_is_ones_own():
    board = Board()
    for said in ("I prefer tea without sugar", "remember that my bike is green"):
        phrase_rules.store(board.records, phrase_rules.match(said), GARDEN, "t1")
    scopes = [board.records.get(ref, GARDEN).get("scope") for ref in ("m1", "m2")]
    assert scopes == ["ws:garden", "user:ann"]


def test_what_is_distilled_from_a_workspaces_notes_is_told_for_it():
    caller = access.owner_of_texts(access.text_owner(GARDEN))
    assert access.scope_of_new(access.learned_tags(["bed"], caller), caller) == "ws:garden"
    assert access.owner_of_texts("ann") == Caller("ann", "", False, "")


def test_a_tag_of_a_workspace_is_not_given_twice_nor_in_groups():
    assert access.learned_tags(["ws:garden"], GARDEN) == ["ws:garden"]
    assert access.learned_tags(["a"], Caller("ann", "room", True, "garden")) == ["a"]


def test_nobody_is_named_as_a_workspace():
    try:
        caller_check.check_caller(Caller("ws:garden", "chat#1", False, ""))
        raise AssertionError
    except ArgumentError as error:
        assert error.argument == "who"
