"""What boards begin to say is published for programs: once while the companion runs, the rest after an outage."""

import pytest

from door_program import Program
from engram_host.companion.conversations import mqtt_door
from engram_host.companion.conversations.board_side import PUSHED
from engram_host.companion.conversations.people import room_of
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.bridges import people
from engram_host.companion.store.bridges.types import ChatPlace
from engram_host.companion.types import Said, Sender
from waiting import wait_until_async

BOARD = Sender("b1", 3, 9)


def begin(store: CompanionStore, number: int, room: str = "phone") -> None:
    """The board says something by itself."""
    said = Said(f"push:7:t{number}", "", f"reminder {number}", room)
    store.conversations.add_push(BOARD, "kitchen", said, 1_795_000_000 + number)


def push(program: Program, number: int) -> None:
    """As begin(), and this companion was the one that took it."""
    begin(program.store, number)
    program.conversations._changed.wake(PUSHED)  # pyright: ignore[reportPrivateUsage]  # what BoardSide does


def pushes(program: Program) -> list[str]:
    return [each["push"] for each in program.heard if "push" in each]


async def is_open(program: Program) -> None:
    """Wait until the door knows up to where all was published."""
    await wait_until_async("the door is open", lambda: bool(program.store.values.get(mqtt_door.PUSH_MARK)))


@pytest.mark.both_databases
def test_what_a_board_begins_to_say_is_published_once_with_its_room_and_moment(program: Program):
    async def work() -> None:
        program.resume()
        await is_open(program)
        push(program, 1)
        push(program, 2)
        await program.hears(push="push:7:t2", room="phone", text="reminder 2", at=1_795_000_002)
        assert program.heard[0] == {"push": "push:7:t1", "room": "phone", "text": "reminder 1", "at": 1_795_000_001}
        assert pushes(program) == ["push:7:t1", "push:7:t2"]

    program.play(work)


def test_a_door_that_opens_for_the_first_time_publishes_nothing_of_before(program: Program):
    async def work() -> None:
        begin(program.store, 1)
        program.resume()
        await is_open(program)
        push(program, 2)
        await wait_until_async("the second one is heard", lambda: pushes(program) == ["push:7:t2"])

    program.play(work)


def test_after_an_outage_of_the_broker_and_a_start_the_rest_follows_and_nothing_else(program: Program):
    async def work() -> None:
        program.resume()
        await is_open(program)
        push(program, 1)
        await wait_until_async("the first one is noted", lambda: int(program.store.values.get(mqtt_door.PUSH_MARK)) > 0)
        program.broker_is_there.clear()
        for number in range(2, 50):
            push(program, number)
        await program.restart()
        program.broker_is_there.set()
        await wait_until_async("all are heard", lambda: len(pushes(program)) == 48)
        assert pushes(program) == [f"push:7:t{number}" for number in range(2, 50)]

    program.play(work)


def test_one_that_was_published_before_a_kill_comes_again_under_the_same_id(
    program: Program, monkeypatch: pytest.MonkeyPatch
):
    async def work() -> None:
        program.resume()
        await is_open(program)
        with monkeypatch.context() as cut:
            cut.setattr(program.store.values, "put", lambda *_: _kill())
            push(program, 1)
            # The door publishes it again and again, until it can note that.
            await wait_until_async("it is heard", lambda: "push:7:t1" in pushes(program))
            await program.door.stop()
        await program.restart()
        await wait_until_async("it is heard again", lambda: pushes(program) == ["push:7:t1"])

    program.play(work)


def _kill() -> None:
    raise StoreUnavailable("the companion was killed.")


def test_what_the_chat_of_a_bridge_gets_is_not_published(program: Program):
    async def work() -> None:
        place = ChatPlace("home", "666", "", False)
        program.store.deliveries.choose_board(place, "telegram:666", "telegram 666", "kitchen", 1)
        program.resume()
        await is_open(program)
        begin(program.store, 1, room="telegram 666")
        push(program, 2)
        await wait_until_async("the other one is heard", lambda: pushes(program) == ["push:7:t2"])

    program.play(work)


LONG = "x" * 90
"""An id that is too long for the name of a room, where a hash stands for it."""


@pytest.mark.parametrize("sender", ["signal:4711", f"signal:{LONG}"])
def test_what_is_for_a_blocked_sender_of_a_relay_is_not_published(program: Program, sender: str):
    async def work() -> None:
        await program.people.approve(sender, "ann")
        await program.people.block("ann")
        program.resume()
        await is_open(program)
        begin(program.store, 1, room=room_of(*sender.split(":")))
        push(program, 2)
        await wait_until_async("the other one is heard", lambda: pushes(program) == ["push:7:t2"])

    program.play(work)


def test_what_is_for_a_closed_group_of_a_relay_is_published_once_it_is_open_again(program: Program):
    async def work() -> None:
        await program.people.set_group("signal:house", "mention")
        await program.people.set_group("signal:house", "off")
        program.resume()
        await is_open(program)
        begin(program.store, 1, room="signal house")
        push(program, 2)
        await wait_until_async("the other one is heard", lambda: pushes(program) == ["push:7:t2"])
        await program.people.set_group("signal:house", "always")
        begin(program.store, 3, room="signal house")
        push(program, 4)
        await wait_until_async("both are heard", lambda: pushes(program) == [f"push:7:t{n}" for n in (2, 3, 4)])

    program.play(work)


def test_the_groups_that_are_known_to_be_closed_are_bounded(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(people, "MOST_CLOSED", 2)
    for name in ("a", "b", "a", "c", "d"):
        store.people.set_group(f"signal:{name}", "always")
        store.people.set_group(f"signal:{name}", "off")
    assert sorted(store.people.silenced_refs()) == ["signal:c", "signal:d"]


def test_what_another_process_took_is_found_by_looking(program: Program, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mqtt_door, "LOOK_SECONDS", 0.02)

    async def work() -> None:
        program.resume()
        await is_open(program)
        begin(program.store, 1)
        await wait_until_async("it is heard", lambda: pushes(program) == ["push:7:t1"])

    program.play(work)
