"""Waiting for a change within one process."""

import weakref

from engram_host.companion.conversations.wakers import Wakers


def test_one_who_stops_waiting_is_forgotten_while_another_still_waits():
    wakers = Wakers()
    with wakers.waiting("chat") as other:
        with wakers.waiting("chat") as event:
            left = weakref.ref(event)
        del event
        assert left() is None
        wakers.wake("chat")
        assert other.is_set()
