"""What a board asks of its archive and says of it, as messages to a companion that runs."""

from collections.abc import Callable
from typing import Any

from sending import Sent, digest

COUNT = 70


def _with_archive(board: Callable[..., Sent]) -> Sent:
    """A board that has archived COUNT memories."""
    one = board()
    for at in range(COUNT):
        one.keep(f"memory {at} of the archive", tags=["a" * 30, "b" * 30, "c" * 30], scope="user:owner")
    one.sync()
    lines = dict(one.lines["records"])
    for first in range(1, COUNT + 1, 16):
        seqs = list(range(first, min(first + 16, COUNT + 1)))
        check = digest(lines[seq] for seq in seqs)
        answer = one.ask("keep", log="records", epoch=one.epoch, seqs=seqs, digest=check)
        assert answer["count"] == len(seqs)
    for number in range(1, COUNT + 1):
        one.write("records", op="archive", id=f"m{number}", at=1, was=number)
    one.sync()
    return one


def test_a_board_is_reported_of_all_its_archive_page_by_page(board: Callable[..., Sent]):
    one = _with_archive(board)
    found: list[list[Any]] = []
    after, pages = 0, 0
    while True:
        page = one.ask("list", epoch=one.epoch, after=after)
        found += page["items"]
        pages += 1
        after = page["next"]
        if not after:
            break
    assert [item[0] for item in found] == list(range(1, COUNT + 1)) and pages > 1
    assert found[0][1:] == ["user:owner", 1795247157, ["a" * 30, "b" * 30, "c" * 30]]


def test_a_companion_that_knows_of_all_has_nothing_to_find(board: Callable[..., Sent]):
    one = _with_archive(board)
    answer = one.ask("holds", epoch=one.epoch, entries=[["user:owner", 1, COUNT]])
    assert answer["op"] == "kept" and answer["count"] == COUNT


def test_an_entry_of_another_form_is_refused(board: Callable[..., Sent]):
    one = _with_archive(board)
    assert one.ask("holds", epoch=one.epoch, entries=[["user:owner", 1]])["op"] == "refused"
