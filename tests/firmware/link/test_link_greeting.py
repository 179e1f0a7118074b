"""A companion to which too many boards come at once lets them wait: they keep their link, and greet again over it."""

from board import Board
from engram.errors import NetError, Refused
from engram.link import replication
from linked import Linked
from support import raises


class Waiting:
    """A board whose companion refuses each greeting for some seconds; `pauses` are those that the board makes, in ms.

    meanwhile() is what happens in a pause.
    """

    def __init__(self, seconds):
        self.linked = Linked(Board())
        self.companion = self.linked.companion
        self.companion.refuses = ("too many boards connect at the same time.", seconds)
        self.greet = self.linked.sync._greet_in_turn
        self.pauses = []
        self.meanwhile = lambda: None

    def __enter__(self):
        self._before, replication.sleep_ms = replication.sleep_ms, self._pause
        return self

    def __exit__(self, *_):
        replication.sleep_ms = self._before

    async def _pause(self, ms):
        self.pauses.append(ms)
        self.meanwhile()


async def test_a_greeting_that_is_refused_for_seconds_is_said_again_over_the_same_link():
    with Waiting(5) as board:
        board.meanwhile = lambda: setattr(board.companion, "refuses", None)
        await board.greet()
        assert board.pauses == [5000] and board.companion.counts == {"hello": 2}


async def test_a_link_whose_greeting_is_refused_again_and_again_is_given_up():
    with Waiting(5) as board:
        with raises(Refused):
            await board.greet()
        assert board.pauses == [5000] * 3 and board.companion.counts == {"hello": 4}


async def test_a_refusal_for_longer_ends_the_link_at_once():
    with Waiting(11) as board:
        with raises(Refused):
            await board.greet()
        assert board.pauses == [] and board.companion.counts == {"hello": 1}


async def test_a_link_that_ends_while_its_greeting_waits_is_given_up():
    with Waiting(5) as board:
        board.meanwhile = lambda: board.linked.exchange.close(NetError("the link has ended"))
        with raises(NetError):
            await board.greet()
        assert board.companion.counts == {"hello": 1}
