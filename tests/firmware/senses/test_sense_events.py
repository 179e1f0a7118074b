"""Events on a whole board: told once to whom they concern, remembered once, whatever the power does; and who may see them."""

import asyncio
import os

from board import ANN, DAY, Board, Script
from channel import Network
from engram import files
from engram.channels.outbox import Outbox
from engram.errors import StoreFull
from engram.memory.access import OWNER, Caller
from engram.memory.journal.journal import Journal
from engram.memory.records.records import Records
from engram.senses.events import event_file
from engram.senses.events.event_file import EventFile
from support import folder, let_others_run

HOME = Caller("owner", "net 1", False, "")
LOW = "cellar: 4.0 °C, below the limit of 5.0 °C (e1)"


class House:
    """A board with a cellar and a network where its owner is in room 1; readings come once a minute."""

    def __init__(self, **settings):
        self.board = Board()
        self.board.now = 1790000040
        self.settings = {"senses_tell": HOME.room, "senses_day_notes": False}
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
        self.watch = self.board.sense_watch

    def restart(self):
        """Cut the power and start again."""
        self.board.restart()
        self.start()

    def limit(self, caller=HOME, **more):
        """Set a limit of the cellar."""
        if self.senses.find("cellar") is None:
            self.senses.observe("cellar", 20, "°C")
            self.board.now += 60
        self.watch.limits.add(caller, self.senses.find("cellar"), **more)
        return self

    async def read(self, *values):
        """A reading for each value, one a minute."""
        for value in values:
            self.senses.observe("cellar", value, "°C")
            self.board.now += 60
            while self.senses.tick():
                pass
            self.watch.tick()
            await let_others_run()
        return self.told()

    def told(self):
        """What was delivered by the board's own doing, with its room; what was kept only is delivered first."""
        return [(address, piece) for address, chat in self.network.chats for piece in chat.told if "(e" in piece]

    def events(self, caller=OWNER):
        """The events that a caller may see, oldest first."""
        found = list(self.watch.events.newest_first(caller))
        found.reverse()
        return found

    def memories(self, caller=OWNER):
        """What the board remembers of events."""
        return [record["content"] for record in self.board.records.newest(caller, ("sense",))]


async def test_an_event_is_told_where_its_limit_was_set_and_remembered_when_it_is_over():
    house = House().limit(low=5)
    assert await house.read(20, 4) == [("net 1", LOW)]
    assert house.memories() == []
    await house.read(3, *[20] * 6)
    assert len(house.told()) == 1
    (memory,) = house.memories()
    assert memory == "cellar was below 5.0 °C from 2026-09-21 14:16 to 2026-09-21 14:22, 3.0 °C at the lowest (e1)"
    (record,) = house.board.records.newest(OWNER, ("sense",))
    assert record["type"] == "event" and record["source"] == "sense" and record["scope"] == "user:owner"
    assert sorted(record["tags"]) == ["cellar", "sense"]


async def test_an_event_has_its_readings_before_and_after():
    house = House().limit(low=5)
    await house.read(*[20 + minute % 3 for minute in range(80)])
    await house.read(*[4] * 30, *[20] * 6)
    (fields,) = house.events()
    times = [at for at, _ in fields["evidence"]]
    assert len(times) <= 20 and times == sorted(times) and times[0] < 0 < times[-1]
    assert {value for at, value in fields["evidence"] if 60 < at < 1500} == {40}
    assert fields["limit"] == 50 and fields["value"] == 40 and fields["end"] > fields["start"]


async def test_what_follows_soon_is_kept_and_not_told_again():
    house = House(senses_cooldown_minutes=60).limit(low=5)
    for _ in range(3):
        await house.read(4, *[20] * 10)
    assert len(house.told()) == 1 and len(house.events()) == len(house.memories()) == 3
    house.restart()
    await house.read(4, *[20] * 10)
    assert house.told() == []
    house.board.now += 3600
    assert len(await house.read(4)) == 1


async def test_nothing_is_told_of_events_that_nobody_asked_for_unless_the_setting_says_where():
    for room, count in (("", 0), (HOME.room, 1)):
        house = House(senses_tell=room)
        await house.read(20)
        house.watch._declared["cellar"] = {"kind": "dht22"}
        for _ in range(30):
            house.board.now += 60
            house.watch.tick()
        await let_others_run()
        assert [fields["kind"] for fields in house.events()] == ["silent"]
        assert len(house.told()) == count


async def test_others_see_and_are_told_no_event_of_the_owner():
    house = House().limit(low=5)
    await house.read(4, *[20] * 6)
    assert house.events(ANN) == [] and house.memories(ANN) == []
    assert [address for address, _ in house.told()] == ["net 1"]
    group = Caller("owner", "net 2", True, "")
    assert house.events(group) == [] and house.memories(group) == []


async def test_a_sense_that_is_shared_no_more_tells_its_readings_to_the_owner_only():
    house = House(senses_share="all").limit(ANN, low=5)
    house.settings["senses_share"] = "owner"
    house.restart()
    assert await house.read(4, *[20] * 6) == []
    assert house.events(ANN) == [] and house.memories(ANN) == []
    assert house.board.sense_limits.run({"action": "list"}, ANN) == {"limits": []}


async def test_an_event_that_had_begun_when_its_sense_was_shared_no_more_ends_without_a_memory():
    house = House(senses_share="all").limit(ANN, low=5)
    await house.read(4)
    house.settings["senses_share"] = "owner"
    house.restart()
    await house.read(*[20] * 7)
    assert house.events(ANN)[0]["end"] and house.memories(ANN) == []


async def test_an_event_whose_room_is_not_there_is_kept_and_seen():
    house = House().limit(OWNER, low=5)
    assert await house.read(4, *[20] * 6) == []
    assert len(house.events()) == len(house.memories()) == 1


async def test_an_event_whose_chat_is_away_is_told_once_when_it_is_back():
    house = House().limit(low=5)
    channels = house.board.inbox.channels
    away = dict(channels)
    channels.clear()
    await house.read(4)
    channels.update(away)
    assert await house.read(4, 4, 4) == [("net 1", LOW)]


async def test_events_push_no_answer_out_of_the_outbox():
    house = House().limit(low=5)
    deliveries = house.board.inbox.deliveries()
    asked, answers = [], [None, True]
    deliveries.may_push = lambda caller: asked.append(caller) or answers[0]
    assert await house.read(4) == [] and asked == [HOME, HOME]
    answers.pop(0)
    assert await house.read(4) == [("net 1", LOW)]


async def test_a_full_flash_costs_the_event_its_line_and_nothing_else():
    house = House().limit(low=5)
    await house.read(20)
    whole = EventFile.add

    def refuse(self, fields):
        raise StoreFull("the flash is full")

    EventFile.add = refuse
    try:
        assert await house.read(4) == [("net 1", LOW)]
    finally:
        EventFile.add = whole
    await house.read(*[20] * 6)
    assert len(house.events()) == 1


# --- the power fails


class PowerCut(asyncio.CancelledError):
    """The power fails: also what delivers an event ends then."""


STEPS = ((EventFile, "add"), (Records, "keep"), (Journal, "add"), (Outbox, "_write"))
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
        house = House(senses_cooldown_minutes=0).limit(low=5)
        told = []
        with Cut(cuts) as cut:
            try:
                await house.read(20, 4, 4, *[20] * 8)
            except PowerCut:
                pass
        await let_others_run()
        told += house.told()
        house.restart()
        await house.network.inbox.redeliver("net")
        if cut.is_over:
            await house.read(4, *[20] * 8)
        told += house.told()
        events = house.events()
        texts = [text for _, text in told]
        for fields in events:
            kept = [line for line in _journal(house) if "(%s)" % fields["id"] in line]
            assert len(kept) == 1, (cuts, kept)
            assert any("(%s)" % fields["id"] in text for text in texts), (cuts, texts)
        assert all("end" in fields for fields in events)
        assert len(house.memories()) == len(events) == len({fields["id"] for fields in events}), cuts
        if not cut.is_over:
            assert cuts >= 8
            return
        cuts += 1


def _journal(house):
    return [turn["text"] for turn in house.board.journal.later(0)]


# --- the file


def _event(number, end=True, size=0):
    fields = {"id": "e%d" % number, "sense": 0, "kind": "low", "start": number, "value": number, "name": "x" * size}
    if end:
        fields["end"] = number + 1
    return fields


def test_the_file_keeps_the_newest_events_and_those_that_are_open():
    path = folder() + "/test.jsonl"
    file = EventFile(path)
    file.add(_event(1, end=False))
    for number in range(2, 400):
        file.add(_event(number, end=False, size=100))
        file.add(_event(number, size=100))
        assert files.size(path) <= 24576
    numbers = [event_file.number_of(fields) for fields in file.newest_first()]
    assert numbers[:30] == list(range(399, 369, -1)) and numbers[-1] == 1
    again = EventFile(path)
    again.load()
    assert again.next == 400 and list(again.open) == ["e1"] and again.ended == {(0, "low"): 400}
    assert [event_file.number_of(fields) for fields in again.newest_first(390)] == list(range(399, 388, -1)) + [1]


def test_a_damaged_line_costs_no_other_event():
    path = folder() + "/test.jsonl"
    file = EventFile(path)
    for number in range(1, 6):
        file.add(_event(number))
    with open(path, "rb") as source:
        data = source.read()
    with open(path, "wb") as target:
        target.write(data.replace(b'"id":"e3"', b'"id":"e9"')[:-5])
    again = EventFile(path)
    again.load()
    assert [event_file.number_of(fields) for fields in again.newest_first()] == [4, 2, 1]
    assert again.damaged == 2 and again.next == 5
    assert os.stat(path[: -len(".jsonl")] + ".bad")[6] > 0


# --- the day's line


async def test_a_days_senses_become_one_line_of_its_note():
    house = House(senses_day_notes=True).limit(low=5)
    day = house.board.clock.day(house.board.now)
    await house.read(18, 4, *[21] * 8)
    house.board.now += DAY
    await house.read(20)
    house.restart()
    await house.read(20)
    lines = [line for line in house.board.notes.named("owner").lines(day + ".md") if "senses" in line]
    assert lines == ["- senses: cellar 4.0 to 21.0 °C, mean 19.1; events: cellar low (e1)"]


# --- the tool


async def test_the_model_is_offered_the_tool_where_a_sense_is_seen():
    house = House()
    listed = [tool.name for tool in house.board.toolbox.listed(OWNER)]
    assert "sense_limit" in listed
    assert "sense_limit" not in [tool.name for tool in house.board.toolbox.listed(ANN)]
    await house.read(20)
    ok, said = await house.board.toolbox.call("sense_limit", {"action": "set", "sense": "cellar", "low": 5}, HOME)
    assert ok and '"low": "5.0 °C"' in said.replace('":"', '": "')
    assert await house.read(4) == [("net 1", LOW)]
