"""What a board tells of itself: kept as its latest state, added up by days; values of a hostile board are cut or refused."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from engram.link import messages
from engram_host.companion.errors import Refused
from engram_host.companion.replication.messages import Head
from engram_host.companion.replication.state_messages import MOST, read_status
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.status import BoardStatus
from engram_host.companion.types import Hello, LogState, Sender
from one_case import in_one_case
from peers import Companion
from sending import Sent


def head(*items: Any) -> Head:
    return {"op": "status", "board": "b1", "link": 1, "n": 1, "items": list(items)}


def told(board: Sent, **figures: int | str) -> dict[str, Any]:
    return board.ask("status", items=[[name, value] for name, value in figures.items()])


# --- over the wire


def test_the_status_of_another_board_with_this_name_is_refused(companion: Companion, board: Callable[..., Sent]):
    kitchen = board()
    kitchen.hello()
    told(kitchen, run=5, memories=3)
    other = board(kitchen.device, board="b2")
    other.link = kitchen.link
    assert told(other, run=9, memories=7)["op"] == "refused"
    assert companion.client.get(f"/v1/boards/{kitchen.device}/status").json()["told"]["status"]["memories"] == 3


# --- figures of a hostile board


def test_pins_are_kept_with_their_values_in_bounds():
    found = read_status(head(["pins", {"lamp": "on", "soil": 1 << 90, "door": None, "x\x1b[2J" * 90: "\0" * 90}]))
    lamp, soil, door, other = found.pin_values.items()
    assert (lamp, soil, door) == (("lamp", "on"), ("soil", MOST), ("door", None))
    assert len(other[0]) <= 32 and other[0].isprintable()
    assert len(read_status(head(["pins", {f"p{at}": 1 for at in range(999)}])).pin_values) == 24


def test_what_a_newer_board_tells_beside_is_passed_over():
    assert read_status(head(["weather", {"wind": [1]}], ["run", 3])) == BoardStatus(run=3)


@in_one_case(
    "item", ["run", ["run"], ["run", 1, 2], [1, 1], {"run": 1}, None, ["run", "1"], ["run", True], ["run", None],
             ["run", 1.5], ["flash", [1]], ["pins", "on"], ["pins", [1]],
             ["pins", {"a": 1.5}], ["pins", {"a": [1]}], ["firmware", 3], ["model_problem", None], ["telegram", "dancing"]],
)  # fmt: skip
def test_a_figure_of_another_form_is_refused_in_a_sentence(item: Any):
    with pytest.raises(Refused, match=r"a status has another form, .*: the board's firmware is at fault"):
        read_status(head(["memories", 1], item))


def test_a_text_is_cut_and_cannot_steer_a_terminal():
    found = read_status(head(["firmware", "9" * 5000], ["model_problem", "\x1b[2J\n\0" + "猫" * 5000]))
    assert len(found.firmware) == 32 and len(found.model_problem) == 200
    assert found.model_problem.isprintable() and "\n" not in found.model_problem


_ODD = (None, True, -1, 0, 1, 1 << 62, 1 << 90, 1.5, "", "on", "x" * 300, "\0", "\ud800", [], [1], {}, {"a": 1})


def test_whatever_a_board_sends_is_kept_or_refused(store: CompanionStore):
    chance = random.Random(4)
    _greet(store)
    kept = 0
    for number in range(1, 300):
        names = chance.choices((*vars(BoardStatus()), "weather", "", "' OR 1=1"), k=chance.randint(1, messages.ITEMS))
        items = [[name, chance.choice(_ODD)] if chance.random() < 0.1 else [name, _fitting(name)] for name in names]
        try:
            status = read_status(head(*items))
        except Refused:
            continue
        store.status.put_status(_at(number), "kitchen", status, number)
        kept += 1
        found = store.status.statuses_of(["kitchen"]).get("kitchen")
        assert found is not None and found.status == status
    assert 50 < kept < 299


def _fitting(name: str) -> Any:
    if name == "pins":
        return {"lamp": "on"}
    return 1 << 60 if isinstance(getattr(BoardStatus(), name, 0), int) else "on"


def _at(number: int) -> Sender:
    return Sender("board-1", 1, number)


def _greet(store: CompanionStore) -> None:
    state = LogState(7, 1, 1, 0)
    store.replication.greet(Hello("kitchen", _at(0), 0, {"records": state, "journal": state}, 0), 1)
