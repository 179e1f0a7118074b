"""Copying the senses: whatever the way does to the messages, in the end the companion has each block of the rings once."""

import os

from board import Board
from engram import files
from engram.errors import NetError
from engram.link import messages
from linked import Linked, Met
from samples import Numbers
from sensing import Board as Perceiving
from support import raises, rounds

_HOURS = 3


class Copied(Linked):
    """A board with senses, and its companion."""

    def __init__(self, perceiving=None, numbers=None):
        self.perceiving = perceiving or Perceiving()
        super().__init__(Board(), numbers=numbers)

    async def tell(self):
        """Tell the companion of the senses all there is."""
        await self.copy_all(self.senses)

    async def tell_next(self):
        """Send one message."""
        await self.senses.step()

    def find_senses(self):
        return self.perceiving.senses

    def restart(self):
        """Lose what is in RAM."""
        self.perceiving.restart()
        self.connect()

    def perceive(self, hours=_HOURS, name="room"):
        """Readings of some hours."""
        self.perceiving.minutes(name, [at % 37 for at in range(hours * 12)], 300)

    def on_flash(self):
        """The blocks on flash, of each level by (seq, check)."""
        rings = self.perceiving.senses.history.rings
        return [
            {_key(block): bytes(block.data) for number in ring.sizes for block in ring.blocks(number)} for ring in rings
        ]

    def check(self):
        """The companion has all blocks that are on flash, as they are there."""
        for level, blocks in enumerate(self.on_flash()):
            for key in blocks:
                assert self.companion.readings[level].get(key) == blocks[key], (level, key)


def _key(block):
    return block.seq, messages.shown(block.check)


async def test_a_companion_gets_the_hours_that_a_board_folded():
    copied = Copied(Perceiving(most_bytes=32768))
    copied.perceive(60)
    await copied.tell()
    assert copied.companion.readings[1]
    copied.check()


async def test_nothing_is_said_when_nothing_changed():
    copied = Copied()
    copied.perceive()
    await copied.tell()
    copied.companion.counts.clear()
    copied.exchange.open(copied.known.begin())  # a new link
    await copied.tell()
    assert copied.companion.counts == {"hello": 1}
    copied.perceive(1)
    await copied.tell()
    assert copied.companion.counts["senses"] == 1 and copied.companion.counts["readings"] <= 2


async def test_after_a_start_the_list_is_all_that_is_said():
    copied = Copied()
    copied.perceive()
    await copied.tell()
    copied.companion.counts.clear()
    copied.restart()
    await copied.tell()
    assert copied.companion.counts == {"hello": 1, "senses": 1}


def _image(folder):
    place = folder + "/senses"
    return {name: files.read(place + "/" + name, 1 << 20) for name in os.listdir(place)}


def _put_back(folder, image):
    place = folder + "/senses"
    for name in os.listdir(place):
        os.remove(place + "/" + name)
    for name, data in image.items():
        with open(place + "/" + name, "wb") as file:
            file.write(data)


async def test_an_answer_of_another_form_ends_the_link():
    for have in ([1, 2], [[1, "zz"], [0, ""]], [["1", ""], [0, ""]]):
        copied = Copied()
        copied.perceive()
        copied.companion.newest = have  # pyright: ignore[reportAttributeAccessIssue]  # of a wrong form
        copied.companion._sense_state = lambda: "00000001"
        await copied.sync._greet()
        with raises(NetError):
            await copied.tell_next()


async def test_whatever_the_way_does_the_companion_has_all_in_the_end():
    for seed in range(rounds(10, 2)):
        numbers = Numbers(seed)
        copied = Copied(Perceiving(most_bytes=65536), numbers)
        image = None
        for _ in range(14):
            what = numbers.below(6)
            if what < 3:
                copied.perceive(1 + numbers.below(4), numbers.pick(("room", "door", "garden")))
            elif what == 3:
                copied.perceiving.machine.later(numbers.below(5) * 86400)
            elif what == 4:
                copied.restart()
            elif image is None and copied.perceiving.names():
                image = _image(copied.perceiving.folder)
            elif image is not None:
                _put_back(copied.perceiving.folder, image)
                copied.restart()
                image = None
            if numbers.below(3) == 0:
                await copied.tell()
        copied.way.numbers = None
        await copied.tell()
        copied.check()


async def test_the_list_names_the_senses_that_everybody_may_see():
    copied = Copied()
    copied.perceive()
    copied.perceive(name="door")
    await copied.tell()
    assert sorted(copied.companion.senses.values()) == [("door", "", 1), ("room", "", 1)]
    assert copied.companion.shared == [] and len(copied.companion.readings[0]) >= 2
    copied.perceiving.is_shared = True
    copied.restart()
    await copied.tell()
    assert list(copied.companion.shared or ()) == [1, 2]


async def test_an_idle_board_tells_what_it_perceives():
    perceiving = Perceiving()
    perceiving.minutes("room", [5] * 130)
    met = Met(Board().serve(companion_url="http://127.0.0.1:9"), perceiving.senses)
    await met.connect()
    await met.be_idle()
    counts = met.linked.companion.counts
    assert counts["senses"] == 1 and counts["readings"] >= 2
