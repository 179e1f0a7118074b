"""Events on a whole board: told once to whom they concern, remembered once, whatever the power does; and who sees them."""

import asyncio

from board import ANN, Board, Script
from channel import Network
from engram.channels.deliveries import Outbox
from engram.memory.access import OWNER, Caller
from engram.memory.journal.journal import Journal
from engram.memory.records.records import Records
from engram.senses import view
from engram.store.table_file import TableFile
from support import let_others_run

HOME = Caller("owner", "net 1", False, "")
LOW = "cellar was below 5.0 °C at 2026-09-21 14:16: 4.0 °C (l1)"
EARLIER = LOW.replace("14:16", "14:15")


class House:
    """A board with a cellar and a network where its owner is in room 1; readings come once a minute."""

    def __init__(self, **settings):
        self.board = Board()
        self.board.now = 1790000040
        self.settings = {"senses_tell": HOME.room, "senses_cooldown_minutes": 5}
        model = settings.pop("model", None)
        self.model = Script(*[model] * 4) if model else None
        self.settings.update(settings)
        self.start()

    def start(self):
        """Start the board; what is not on flash is lost."""
        self.board.senses = None
        if self.model:
            self.board.learn(self.model, **self.settings)
        else:
            self.board.serve(**self.settings)
        self.network = Network(self.board.inbox)
        self.senses = self.board.find_senses()
        assert self.board.sense_watch
        self.watch, self.view = self.board.sense_watch, self.board.sense_view

    def restart(self):
        """Cut the power and start again."""
        self.board.restart()
        self.start()

    def limit(self, caller=HOME, **more):
        """Set a limit of the cellar."""
        if self.senses.find("cellar") is None:
            self.senses.observe("cellar", 20, "°C")
            self.board.now += 60
        self.view.limits.add(caller, self.senses.find("cellar"), **more)
        return self

    async def read(self, *values):
        """A reading for each value, one a minute."""
        for value in values:
            self.senses.observe("cellar", value, "°C")
            self.board.now += 60
            self.senses.tick()
            self.watch.tick()
            await let_others_run()
        return self.told()

    def told(self):
        """What was delivered by the board's own doing, with its room; what was kept only is delivered first."""
        return [(address, piece) for address, chat in self.network.chats for piece in chat.told if "(l" in piece]

    def events(self, caller=OWNER):
        """The events that last and that a caller may see."""
        return [event for _, event in self.view.lasting_events(caller)]

    def memories(self, caller=OWNER):
        """What the board remembers of events."""
        return [record["content"] for record in self.board.records.newest(caller, ("sense",))]


async def test_an_event_is_told_where_its_limit_was_set_and_remembered():
    house = House().limit(low=5)
    assert await house.read(20, 4) == [("net 1", LOW)]
    await house.read(3, *[20] * 6)
    assert len(house.told()) == 1 and house.events() == []
    assert house.memories() == [LOW]
    (record,) = house.board.records.newest(OWNER, ("sense",))
    assert record["type"] == "event" and record["source"] == "sense" and record["scope"] == "user:owner"
    assert sorted(record["tags"]) == ["cellar", "sense"]


async def test_others_see_and_are_told_no_event_of_the_owner():
    house = House().limit(low=5)
    await house.read(4)
    assert house.events() == [EARLIER] and house.events(ANN) == [] == house.memories(ANN)
    assert [address for address, _ in house.told()] == ["net 1"]
    group = Caller("owner", "net 2", True, "")
    assert house.events(group) == [] and house.memories(group) == []


async def test_a_sense_that_is_shared_no_more_tells_its_readings_to_the_owner_only():
    house = House(senses_share="all").limit(ANN, low=5)
    house.settings["senses_share"] = "owner"
    house.restart()
    assert await house.read(4, *[20] * 6) == []
    assert house.events(ANN) == [] and house.memories(ANN) == []
    assert view.run_limit(house.view, ANN, "list")[0] == {"limits": []}


async def test_an_event_whose_chat_is_away_is_told_once_when_it_is_back():
    house = House().limit(low=5)
    channels = house.board.inbox.deliveries.channels
    away = dict(channels)
    channels.clear()
    await house.read(4)
    channels.update(away)
    assert await house.read(4, 4, 4) == [("net 1", EARLIER)]


async def test_unusual_readings_are_told_in_the_room_that_the_setting_names():
    for room, count in (("", 0), (HOME.room, 1)):
        house = House(senses_tell=room)
        await house.read(20)
        house.view.limits.begin_unusual(house.senses.find("cellar"), house.board.now, 300, [190, 210])
        assert len(await house.read(20)) == count
        assert len(house.events()) == len(house.memories()) == 1
        assert "30.0 °C, where 19.0 to 21.0 °C is usual (l1)" in house.events()[0]


# --- the power fails


class PowerCut(asyncio.CancelledError):
    """The power fails: also what delivers an event ends then."""


STEPS = ((TableFile, "_write"), (Records, "keep"), (Journal, "add"), (Outbox, "_write"))
"""What writes to the flash, once each time that it is called."""


class Cut:
    """Within a `with` block the power fails before or after the flash is written for the n-th time."""

    def __init__(self, at):
        self._left = at
        self.is_over = False

    def __enter__(self):
        self._whole = [(kind, name, getattr(kind, name)) for kind, name in STEPS]
        for kind, name, whole in self._whole:
            setattr(kind, name, self._counted(whole))
        return self

    def __exit__(self, kind, error, trace):
        for kind, name, whole in self._whole:
            setattr(kind, name, whole)

    def _counted(self, whole):
        def counted(*arguments, **more):
            self._count()
            result = whole(*arguments, **more)
            self._count()
            return result

        return counted

    def _count(self):
        self._left -= 1
        if self._left < 0:
            self.is_over = True
            raise PowerCut


async def test_whenever_the_power_fails_an_event_is_told_once_closed_once_and_remembered_once():
    cuts = 0
    while True:
        house = House().limit(low=5)
        told = []
        with Cut(cuts) as cut:
            try:
                await house.read(20, 4, 4, *[20] * 8)
            except PowerCut:
                pass
        await let_others_run()
        told += house.told()
        house.restart()
        await house.network.inbox.deliveries.redeliver("net")
        if cut.is_over:
            await house.read(4, *[20] * 8)
        told += house.told()
        assert house.events() == []
        memories = house.memories()
        assert memories and len(set(memories)) == len(memories), (cuts, memories)
        for memory in memories:
            assert len([line for line in _journal(house) if memory in line]) == 1, cuts
            assert any(memory in text for _, text in told), (cuts, told)
        if not cut.is_over:
            assert cuts >= 8
            return
        cuts += 1


def _journal(house):
    return [turn["text"] for turn in house.board.journal.later(0)]


# --- the tool


async def test_the_model_sets_lists_and_removes_limits_of_its_person_alone():
    house = House()
    listed = [tool.name for tool in house.board.toolbox.listed(OWNER)]
    assert "sense_limit" in listed
    assert "sense_limit" not in [tool.name for tool in house.board.toolbox.listed(ANN)]
    await house.read(20)
    ok, said = await house.board.toolbox.call("sense_limit", {"action": "set", "sense": "Cellar", "low": 5}, HOME)
    assert ok and '"below": "5.0 °C"' in said.replace('":"', '": "')
    assert view.run_limit(house.view, OWNER, "list")[0] == {"limits": []}, "another room has its own"
    assert await house.read(4) == [("net 1", EARLIER)]
    assert view.run_limit(house.view, HOME, "remove", id="l1")[0]["removed"]["id"] == "l1"
    assert view.run_limit(house.view, HOME, "list")[0] == {"limits": []}
