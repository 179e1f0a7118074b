"""In a workspace what is learned without being asked to keep it belongs to it."""

from board import Board
from engram.agent import phrase_rules
from engram.memory import access
from engram.memory.access import Caller

GARDEN = Caller("ann", "chat#1", False, "garden")
OTHER = Caller("bob", "chat#2", False, "garden")


def test_what_a_rule_takes_from_a_sentence_is_the_workspaces_and_what_was_asked_for_is_ones_own():
    board = Board()
    for said in ("I prefer tea without sugar", "remember that my bike is green"):
        phrase_rules.store(board.records, phrase_rules.match(said), GARDEN, "t1")
    scopes = [board.records.get(ref, GARDEN).get("scope") for ref in ("m1", "m2")]
    assert scopes == ["ws:garden", "user:ann"]


def test_a_tag_of_a_workspace_is_not_given_twice_nor_in_groups():
    assert access.learned_tags(["ws:garden"], GARDEN) == ["ws:garden"]
    assert access.learned_tags(["a"], Caller("ann", "room", True, "garden")) == ["a"]
