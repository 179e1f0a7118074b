"""The types of messages' heads have the fields that the firmware's tables have, of the same kinds."""

from typing import Any, get_args, get_type_hints

from engram.link import messages
from engram_host.companion.replication.messages import BoardHead, Head
from engram_host.companion.types import LogName
from one_case import in_one_case

HEADS = {get_args(get_type_hints(head)["op"])[0]: head for head in get_args(BoardHead)}

TYPES: dict[str, Any] = {"string": str, "integer": int, "boolean": bool}
LISTS: dict[str, Any] = {"": list[Any], "string": list[str], "integer": list[int]}


def _hint(rule: dict[str, Any]) -> Any:
    """The type of a field with a rule of the tables."""
    if rule["type"] != "array":
        return LogName if "enum" in rule else TYPES[rule["type"]]
    return LISTS[rule.get("items", {"type": ""})["type"]]


def test_each_message_of_a_board_has_a_head():
    assert set(HEADS) == set(messages.FROM_BOARD)


@in_one_case("op", sorted(messages.FROM_BOARD))
def test_a_head_has_the_fields_of_its_table(op: str):
    table = dict(messages._ADDRESS + messages.FROM_BOARD[op])
    hints = get_type_hints(HEADS[op])
    hints.pop("op")
    assert set(hints) == set(table)
    assert {name for name, hint in hints.items() if hint != _hint(table[name])} == set()


def test_the_address_of_a_head_is_that_of_each_message():
    assert set(get_type_hints(Head)) == set(dict(messages._ADDRESS))
