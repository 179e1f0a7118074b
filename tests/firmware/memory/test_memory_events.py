"""Events with a time, people and a place: read from a model's answer, found by day and person, shown, and moved."""

import random

from board import Board
from engram.memory.access import OWNER
from learners import add, facts, learn, learner
from movers import answered, imported, memories, mover, restarted

SAID = "I had lunch with Carla Weiß at the old harbour"
LUNCH = {"type": "event", "when": "2026-05-12T12:30", "people": ["Carla Weiß"], "where": "old harbour"}
MAY_12 = 1778589000  # 12:30
JUNK = (None, "", 5, [], {}, ["a", 3], "someday", "2026-13-40", "x" * 500, ["y" * 50], True, "9999-01-01")


async def _learnt(**told):
    """The record of an event with these fields, told on Monday, 2026-09-21."""
    board = learner("nice", facts(add("t3", "The user had lunch", **told)))
    await learn(board, SAID)
    (record,) = board.records.newest(OWNER)
    return record


async def test_a_model_names_the_time_people_and_place_of_an_event():
    record = await _learnt(mood="fine", **LUNCH)
    assert (record["when"], record["people"], record["where"]) == (MAY_12, ["Carla Weiß"], "old harbour")
    assert "until" not in record and "mood" not in record
    record = await _learnt(type="event", when="last week", people=["A", "B", "C", "D", "E"])
    assert (record["when"], record["until"]) == (1789344000, 1789862400)  # 14 to 20 September
    assert record["people"] == ["A", "B", "C", "D"]
    record = await _learnt(type="event", people=["Carla", None, "x" * 50, "Bob"])
    assert record["people"] == ["Carla", "Bob"]


async def test_what_cannot_be_read_of_an_event_loses_only_itself():
    random.seed(46)
    for _ in range(20):
        told = {name: random.choice(JUNK) for name in ("until", "people", "where", "colour")}
        record = await _learnt(type="event", when="2026-05-12T12:30", **told)
        assert record["when"] == MAY_12 and "until" not in record
    assert "when" not in await _learnt(type="event", when="someday")


def _calendar():
    """A board with lunches of two people in three months, kept in September."""
    board = mover()
    for ref, (month, who) in enumerate(((4, "Carla Weiß"), (5, "Bob"), (5, "Carla Weiß"), (6, "Carla Weiß"))):
        at = MAY_12 + (month - 5) * 30 * 86400 + ref
        board.remember("Lunch", ["food"], type="event", when=at, people=[who], where="old harbour")
    board.remember("Carla likes soup, with salt in May", ["food"])
    return board


def test_events_are_found_by_person_and_day():
    board = _calendar()
    for asked in ("with Carla in May", "What did Carla Weiß and I do in May 2026?", "¿Qué hice con Carla en mayo?"):
        found = board.find(asked, OWNER)
        assert found[0].id == "m3" and found[0].confidence >= 300, asked
        assert found[0].text == "Lunch (2026-05-12 12:30; Carla Weiß; old harbour)"
    assert {item.id for item in board.find("what happened in May?", OWNER)[:2]} == {"m2", "m3"}
    assert "- [m3 2026-05-12] Lunch (2026-05-12 12:30; Carla Weiß; old harbour)" in board.block(
        "with Carla in May", OWNER, 500
    )
    assert answered(board, "/recall with Carla in May")[0].startswith("- [m3 2026-05-12] Lunch")


def test_the_same_at_another_time_is_another_event():
    board = Board()
    said = "The user had a long lunch"
    stored = [board.records.store(said, ["food"], type="event", when=MAY_12 + n // 2 * 86400) for n in range(4)]
    assert [each.outcome for each in stored] == ["stored", "duplicate", "stored", "duplicate"]
    block = board.block("when did I have a long lunch?", OWNER, 500)
    assert block.count(said) == 2 and "disagree" not in block and "differ" not in block


def test_events_move_with_their_fields():
    board = _calendar()
    board.compact()
    lines = memories(restarted(board))
    shown = "\n".join(answered(board, "/memory show m3"))
    assert "people      Carla Weiß" in shown and "when        2026-05-12 12:30" in shown and "where       old" in shown
    other = mover()
    imported(other, lines)
    again = memories(other)
    names = ("content", "type", "when", "people", "where")
    assert [[line.get(name) for name in names] for line in again] == [
        [line.get(name) for name in names] for line in lines
    ]
