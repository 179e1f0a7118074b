"""What a board asks of its archive and says of it, as messages to a companion that runs."""

from collections.abc import Callable

from sending import Sent, digest

COUNT = 70


def _with_archive(board: Callable[..., Sent]) -> Sent:
    """A board that has archived COUNT memories."""
    one = board()
    for at in range(COUNT):
        one.keep(f"memory {at} of the archive", scope="user:owner")
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


def test_a_companion_that_knows_of_all_has_nothing_to_find(board: Callable[..., Sent]):
    one = _with_archive(board)
    answer = one.ask("holds", epoch=one.epoch, first=1, last=COUNT)
    assert answer["op"] == "kept" and answer["count"] == COUNT
