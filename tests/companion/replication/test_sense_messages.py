"""What a board perceives comes to the companion once, whatever is killed, doubled or put back; what is hostile is refused."""

import random
from pathlib import Path
from struct import pack
from typing import Any
from zlib import crc32

import pytest

from engram.senses.rings import RowBuffer, block_at
from engram_host.companion.errors import Refused
from engram_host.companion.replication.state_messages import read_block, read_list
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.senses.table import PART_BYTES
from engram_host.companion.store.senses.types import FOLDED, MINUTES
from engram_host.companion.types import RetentionLimits
from one_case import in_one_case
from peers import Companion
from perceiving_board import DAY, MINUTE, NOW, PerceivingBoard, bytes_of, posted_to
from sending import Sent


@pytest.fixture
def kitchen(store: CompanionStore, tmp_path: Path) -> PerceivingBoard:
    """A board with senses, whose messages go into the store."""
    return PerceivingBoard(Sent(posted_to(store)), tmp_path / "flash")


def kept(store: CompanionStore, name: str = "room", level: int = MINUTES) -> dict[int, tuple[int, ...]]:
    """The rows of a sense of the kitchen, by slot."""
    (sense,) = [each for each in store.senses.senses_of("kitchen") if each.name == name]
    return {row.slot: tuple(row[1:]) for row in store.senses.reading_rows("kitchen", sense.key, level, 0, 1 << 32)}


def walk(count: int, seed: int = 1) -> list[float]:
    chance, value, found = random.Random(seed), 20.0, []
    for _ in range(count):
        value += chance.uniform(-0.4, 0.4)
        found.append(round(value, 1))
    return found


# --- what comes


@pytest.mark.both_databases
def test_minutes_are_kept_as_the_board_has_them(store: CompanionStore, kitchen: PerceivingBoard):
    kitchen.perceive("room", walk(400), 20, "°C")
    kitchen.tell()
    assert kept(store) == kitchen.rows("room")
    (sense,) = store.senses.senses_of("kitchen")
    assert (sense.name, sense.unit, sense.decimals) == ("room", "°C", 1)
    newest = max(kept(store))
    assert (sense.at, sense.value) == (newest * MINUTE, kept(store)[newest][-1])


def test_blocks_in_any_order_give_the_same(store: CompanionStore, kitchen: PerceivingBoard):
    kitchen.perceive("room", walk(700), 30)
    kitchen.senses.flush()
    kitchen.sent.hello()
    kitchen.list_senses()
    blocks = kitchen.blocks() * 2
    random.Random(3).shuffle(blocks)
    for level, block in blocks:
        kitchen.send(level, block)
    assert kept(store) == kitchen.rows("room")


def test_a_flash_that_went_back_adds_its_other_readings_to_those_that_came(
    store: CompanionStore, kitchen: PerceivingBoard, tmp_path: Path
):
    kitchen.perceive("room", walk(200))
    kitchen.senses.flush()
    image = {path: path.read_bytes() for path in (tmp_path / "flash" / "senses").iterdir()}
    kitchen.perceive("room", walk(200, 2))
    kitchen.tell()
    before = kept(store)
    for path in (tmp_path / "flash" / "senses").iterdir():
        path.unlink()
    for path, content in image.items():
        path.write_bytes(content)
    kitchen.start()
    kitchen.perceive("room", walk(200, 3))
    kitchen.tell()
    assert kept(store) == before | kitchen.rows("room")


@pytest.mark.both_databases
def test_a_reset_board_begins_again_and_what_it_had_is_set_aside(
    store: CompanionStore, kitchen: PerceivingBoard, tmp_path: Path
):
    kitchen.perceive("room", walk(130))
    kitchen.tell()
    other = PerceivingBoard(kitchen.sent, tmp_path / "other", kitchen.now)
    other.sent.epoch += 1
    other.perceive("garden", [5] * 130)
    other.tell()
    assert [sense.name for sense in store.senses.senses_of("kitchen")] == ["garden"]
    store.removal.expire(RetentionLimits(former_days=1), kitchen.now + 30 * 365 * DAY)
    kitchen.sent.epoch -= 1
    kitchen.tell()
    assert kept(store) == kitchen.rows("room")


# --- the list


def test_a_forgotten_sense_goes_with_its_readings(store: CompanionStore, kitchen: PerceivingBoard):
    kitchen.perceive("room", walk(130))
    kitchen.perceive("door", [0, 1] * 70)
    kitchen.tell()
    (door,) = [each for each in store.senses.senses_of("kitchen") if each.name == "door"]
    kitchen.senses.forget(kitchen.find("door"))
    kitchen.tell()
    assert [sense.name for sense in store.senses.senses_of("kitchen")] == ["room"]
    assert store.senses.reading_rows("kitchen", door.key, MINUTES, 0, 1 << 32) == []


@pytest.mark.both_databases
def test_a_sense_of_a_damaged_list_is_set_aside_and_comes_back(store: CompanionStore, kitchen: PerceivingBoard):
    kitchen.perceive("room", walk(130))
    kitchen.perceive("door", [0, 1] * 70)
    kitchen.tell()
    door = kept(store, "door")
    lost = kitchen.senses._senses.pop("door")
    kitchen.list_senses(whole=False)
    assert [sense.name for sense in store.senses.senses_of("kitchen")] == ["room"]
    kitchen.list_senses()  # it is not forgotten later either
    kitchen.senses._senses["door"] = lost
    kitchen.list_senses()
    assert kept(store, "door") == door


def test_messages_of_senses_before_the_greeting_are_refused(store: CompanionStore, kitchen: PerceivingBoard):
    kitchen.perceive("room", walk(70))
    kitchen.senses.flush()
    assert kitchen.list_senses()["op"] == "refused"
    assert kitchen.send(*kitchen.blocks()[0])["op"] == "refused"


# --- hostile boards


READINGS: Any = {"epoch": 8, "level": 0, "seq": 1}


def _list(*items: Any) -> Any:
    return {
        "op": "senses", "board": "b1", "link": 1, "n": 1, "epoch": 8, "next": 9, "whole": True, "items": list(items),
        "shared": [],
    }  # fmt: skip


@in_one_case(
    "item", ["x", [], [1, "a", "", 1], [True, "a", "", 1, 0], [128, "a", "", 1, 0], [-1, "a", "", 1, 0], [1, "", "", 1, 0],
             [1, "x" * 33, "", 1, 0], [1, "a", "x" * 9, 1, 0], [1, "a", "", 4, 0], [1, "a\x1b[2J", "", 1, 0],
             [1, "a", "\0", 1, 0], [1, "a", "", 1, 1 << 90]],
)  # fmt: skip
def test_a_sense_of_another_form_is_refused_in_a_sentence(item: Any):
    with pytest.raises(Refused, match="a list of senses has another form"):
        read_list(_list(item))


def test_readings_that_are_cut_or_changed_anywhere_are_refused(kitchen: PerceivingBoard):
    kitchen.perceive("room", walk(5))
    kitchen.senses.flush()
    data = bytes_of(kitchen.blocks()[0][1])
    head: Any = {"epoch": 8, "level": 0, "seq": 1}
    assert read_block(head, data).rows
    for at in range(len(data)):
        for broken in (data[:at], data[:at] + bytes((data[at] ^ 4,)) + data[at + 1 :], data + b"x"):
            with pytest.raises(Refused):
                read_block(head, broken)


def test_whatever_bytes_a_block_has_its_rows_are_in_their_bounds():
    chance = random.Random(5)
    for _ in range(300):
        for rows in read_block(READINGS, hostile_block(chance)).rows.values():
            assert all(row.low <= row.mean <= row.high and row.readings > 0 for row in rows)


@pytest.mark.both_databases
def test_a_block_fills_few_parts_of_a_sense_the_newest(store: CompanionStore, kitchen: PerceivingBoard):
    kitchen.perceive("room", walk(5))
    kitchen.tell()
    slots = [at * 3 * 1440 for at in range(1, 1001)]
    rows = RowBuffer(1 << 20)
    for slot in slots:
        rows.add(kitchen.find("room").number, slot, (1, 5, 5, 5, 5))
    data = block_of(bytes(rows.bytes()))
    assert kitchen.send(0, block_at(data), data)["op"] == "perceived"
    filled = store.database.read(lambda rows: rows.run("SELECT part FROM sense_parts WHERE level = 0 AND part < 10000"))
    assert sorted(part for (part,) in filled) == [slot // 1440 for slot in slots[-64:]]
    used = store.database.read(lambda rows: rows.run("SELECT bytes FROM device_use"))
    assert used[0][0] >= 64 * PART_BYTES


def hostile_block(chance: random.Random) -> bytes:
    """A block that is whole, with rows that no board writes."""
    return block_of(bytes(chance.choice((0, 1, 255, chance.randrange(256))) for _ in range(12 * chance.randrange(9))))


def block_of(rows: bytes) -> bytes:
    """A whole block of some rows."""
    head = pack("<BBHI", 0xB6, 0, len(rows) // 12, 0)
    return head + pack("<I", crc32(rows, crc32(head))) + rows


# --- what leaves


def test_minutes_leave_after_their_days_and_hours_stay(store: CompanionStore, kitchen: PerceivingBoard):
    kitchen.perceive("room", walk(130))
    kitchen.tell()
    hours = kept(store, level=FOLDED)
    store.removal.expire(RetentionLimits(reading_days=30), kitchen.now + 29 * DAY)
    assert kept(store)
    store.removal.expire(RetentionLimits(reading_days=30), kitchen.now + 32 * DAY)
    assert kept(store) == {} and kept(store, level=FOLDED) == hours


@pytest.mark.both_databases
def test_beyond_a_boards_room_the_oldest_minutes_leave_first(store: CompanionStore, kitchen: PerceivingBoard):
    for seed in range(6):
        kitchen.perceive("room", walk(300, seed))
        kitchen.now += DAY
    kitchen.tell()
    before, hours = kept(store), kept(store, level=FOLDED)
    store.removal.expire(RetentionLimits(reading_bytes=6000), kitchen.now)
    after = kept(store)
    assert 0 < len(after) < len(before) and min(after) > min(before) and max(after) == max(before)
    assert kept(store, level=FOLDED) == hours


# --- a real companion


def test_a_companion_that_is_killed_after_any_message_has_each_reading_once(tmp_path: Path):
    with Companion(tmp_path / "home") as companion:
        kitchen = PerceivingBoard(Sent(companion.posted), tmp_path / "flash")
        kitchen.perceive("room", walk(150))
        kitchen.senses.flush()
        sent = 0
        while block := kitchen.send_next():
            sent += 1
            companion.kill()
            companion.start()
            kitchen.send(*block)  # what was answered is not known
        assert sent > 2
        asked = {"since": NOW, "until": kitchen.now, "level": "minute", "points": 2000}
        answer = companion.client.get("/v1/boards/kitchen/senses/room/readings", params=asked)
        found = {point["at"] // 60: point["count"] for point in answer.json()["points"]}
        assert found == {slot: row[0] for slot, row in kitchen.rows("room").items()}
