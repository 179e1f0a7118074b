"""Readings over HTTP and on the command line: senses, series for plots, days of the board's zone, events, exports."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from engram_host.companion.senses.service import Level, ReadingService, Series
from engram_host.companion.store import CompanionStore
from one_case import in_one_case
from peers import Companion
from perceiving_board import DAY, HOUR, MINUTE, NOW, PerceivingBoard, add_anomaly, posted_to
from sending import Sent

RULE = "CET-1CEST,M3.5.0,M10.5.0/3"


@pytest.fixture(scope="module")
def served(companion: Companion, tmp_path_factory: pytest.TempPathFactory) -> PerceivingBoard:
    """A board whose two senses a running companion has: a room for six hours, a door."""
    board = PerceivingBoard(Sent(companion.posted), tmp_path_factory.mktemp("flash"))
    board.perceive("room", [20 + at % 7 / 10 for at in range(360)], unit="°C")
    board.perceive("door", [0, 1, 1], HOUR)
    board.tell()
    add_anomaly(companion.home, "room", NOW + 600, NOW + 900, 261)
    return board


def asked(companion: Companion, path: str, **query: int):
    answer = companion.client.get(f"/v1/boards/kitchen/senses{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_series_has_what_was_read_in_its_points(companion: Companion, served: PerceivingBoard):
    found = asked(companion, "/room/readings", since=NOW, until=NOW + 360 * MINUTE, points=2000)
    assert (found["level"], found["step"], len(found["points"])) == ("minute", 1, 360)
    assert found["points"][3] == {"at": NOW + 180, "count": 1, "min": 20.3, "max": 20.3, "mean": 20.3, "last": 20.3}
    assert [(event["id"], event["value"]) for event in found["events"]] == [("c1", 26.1)]


def test_a_series_has_no_more_points_than_asked_and_all_readings(companion: Companion, served: PerceivingBoard):
    for points in (1, 7, 50, 359, 360):
        found = asked(companion, "/room/readings", since=NOW, until=NOW + 360 * MINUTE, points=points)["points"]
        assert 0 < len(found) <= points and sum(point["count"] for point in found) == 360
        assert min(point["min"] for point in found) == 20 and max(point["max"] for point in found) == 20.6


@in_one_case("days, level", [(1, "minute"), (30, "hour"), (300, "day")])
def test_a_longer_time_is_of_a_coarser_level(companion: Companion, served: PerceivingBoard, days: int, level: Level):
    found = asked(companion, "/room/readings", since=served.now - days * DAY, until=served.now)
    assert found["level"] == level and sum(point["count"] for point in found["points"]) == 360


@in_one_case("path", ["/attic/readings", "/attic/events", "/attic/export", "/%00/readings", "/room/nothing"])
def test_a_sense_that_is_not_there_is_missing_in_a_sentence(companion: Companion, served: PerceivingBoard, path: str):
    answer = companion.client.get(f"/v1/boards/kitchen/senses{path}")
    assert answer.status_code == 404 and answer.json()["problem"]


# --- the service


@pytest.fixture
def house(store: CompanionStore, tmp_path: Path) -> PerceivingBoard:
    """A board in a zone with daylight saving, whose messages go into the store."""
    return PerceivingBoard(Sent(posted_to(store), rule=RULE, zone=60), tmp_path / "flash")


def series_of(store: CompanionStore, *asked: Any) -> Series:
    """A series of the kitchen, as a service gives it."""
    return asyncio.run(ReadingService(store.boards, store.senses).series("kitchen", *asked))


@pytest.mark.both_databases
def test_days_are_those_of_the_boards_zone(store: CompanionStore, house: PerceivingBoard):
    house.now = int(datetime(2026, 10, 23, 22, tzinfo=UTC).timestamp())  # midnight there, on the day before the change
    begin = house.now
    house.perceive("room", range(24 * 5), HOUR)
    house.tell()
    found = series_of(store, "room", begin, house.now, "day")
    assert [point.count for point in found.points][:4] == [24, 25, 24, 24]
    assert [datetime.fromtimestamp(point.at, UTC).hour for point in found.points][:4] == [22, 22, 23, 23]


def send_folded(house: PerceivingBoard, is_sent: Callable[[int], bool]) -> None:
    """Let a board perceive twice, days apart, and send the levels that are named: of the first time it keeps hours."""
    house.perceive("room", [5] * 90, 60)
    house.senses.flush()
    list(house.senses.history._fold(house.senses.history.minutes.newest))
    house.now += 5 * DAY
    house.perceive("room", [6] * 90, 60)
    house.senses.flush()
    house.sent.hello()
    house.list_senses()
    for level, block in house.blocks():
        if is_sent(level):
            house.send(level, block)


def test_hours_that_the_board_folded_fill_what_its_minutes_lack(store: CompanionStore, house: PerceivingBoard):
    send_folded(house, lambda level: True)
    found = series_of(store, "room", NOW, house.now, "hour")
    assert sum(point.count for point in found.points) == 180


def test_a_time_without_minutes_shows_hours(store: CompanionStore, house: PerceivingBoard):
    send_folded(house, lambda level: level > 0)
    found = series_of(store, "room", NOW, NOW + 3 * HOUR)
    assert found.level == "hour" and sum(point.count for point in found.points) == 90


@pytest.mark.both_databases
def test_an_export_has_what_a_series_has(store: CompanionStore, house: PerceivingBoard):
    house.perceive("room", range(150), 40 * 60)
    house.tell()
    service = ReadingService(store.boards, store.senses)
    for level in get_args(Level):
        exported = [point for _, point in service.exported("kitchen", "room", 0, 1 << 40, level)]
        series = series_of(store, "room", 0, 1 << 35, level, 2000)
        assert exported == list(series.points) and sum(point.count for point in exported) == 150, level
