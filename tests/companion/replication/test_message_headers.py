"""The types of messages' heads have the fields that the firmware's tables have, of the same kinds."""

from typing import Any, get_args, get_type_hints

from engram.link import messages
from engram_host.companion.replication.messages import BoardHead, Head
from engram_host.companion.types import LogName
from one_case import in_one_case

HEADS = {get_args(get_type_hints(head)["op"])[0]: head for head in get_args(BoardHead)}

KINDS = {
    messages._TEXT: (str,),
    messages._NUMBER: (int,),
    messages._FLAG: (bool,),
    messages._LOG: (LogName,),
    messages._LIST: (list[Any],),
    messages._TEXTS: (list[str],),
    messages._SEQS: (list[int],),
    messages._NUMBERS: (list[int],),
}
"""The types of each kind of field in the tables."""


def test_each_message_of_a_board_has_a_head():
    assert set(HEADS) == set(messages.FROM_BOARD)


@in_one_case("op", sorted(messages.FROM_BOARD))
def test_a_head_has_the_fields_of_its_table(op: str):
    table = dict(messages._ADDRESS + messages.FROM_BOARD[op])
    hints = get_type_hints(HEADS[op])
    hints.pop("op")
    assert set(hints) == set(table)
    assert {name for name, hint in hints.items() if hint not in KINDS[table[name][0]]} == set()


def test_the_address_of_a_head_is_that_of_each_message():
    assert set(get_type_hints(Head)) == set(dict(messages._ADDRESS))
