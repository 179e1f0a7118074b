"""Anomalies in readings are found once, kept beside the board's events, and end."""

import random
from pathlib import Path
from typing import Any, cast

import pytest

from engram_host.companion.senses.anomaly_watch import AnomalyWatch
from engram_host.companion.store import CompanionStore
from perceiving_board import HOUR, MINUTE, PerceivingBoard, posted_to
from sending import Sent

STEP = 15 * MINUTE


@pytest.fixture
def kitchen(store: CompanionStore, tmp_path: Path) -> PerceivingBoard:
    return PerceivingBoard(Sent(posted_to(store)), tmp_path / "flash")


def read(board: PerceivingBoard, hours: int, middle: float, seed: int) -> None:
    chance = random.Random(seed)
    board.perceive("room", [round(middle + chance.gauss(0, 0.3), 1) for _ in range(hours * 4)], STEP)
    board.tell()


def look(store: CompanionStore, board: PerceivingBoard, watch: AnomalyWatch | None = None) -> AnomalyWatch:
    watch = watch or AnomalyWatch(
        boards=store.boards, senses=store.senses, supervisor=cast(Any, None), lease=cast(Any, None)
    )
    for sense in store.senses.senses_of("kitchen"):
        watch.look("kitchen", sense, board.now)
    return watch


def found(store: CompanionStore) -> list[tuple[str, bool]]:
    return sorted((event.kind, bool(event.ended)) for event in store.senses.sense_events("kitchen"))


@pytest.mark.both_databases
def test_a_new_level_is_unusual_until_it_is_usual(store: CompanionStore, kitchen: PerceivingBoard):
    read(kitchen, 16 * 24, 20, 1)
    watch = look(store, kitchen)
    assert found(store) == []
    read(kitchen, 12, 26, 2)
    look(store, kitchen, watch)
    assert found(store) == [("unusual", False)]
    read(kitchen, 48, 26, 3)
    look(store, kitchen, watch)
    assert found(store) == [("unusual", True)]


def test_anomalies_are_kept_once_and_do_not_change_what_the_board_sends_next(
    store: CompanionStore, kitchen: PerceivingBoard
):
    read(kitchen, 16 * 24, 20, 1)
    read(kitchen, 12, 26, 2)
    wanted = kitchen.sent.hello()["senses"]
    look(store, kitchen)
    before = store.senses.sense_events("kitchen")
    look(store, kitchen)
    assert store.senses.sense_events("kitchen") == before and before
    assert kitchen.sent.hello()["senses"] == wanted


def test_what_lasts_and_is_not_found_again_has_ended(store: CompanionStore, kitchen: PerceivingBoard):
    read(kitchen, 16 * 24, 20, 1)
    read(kitchen, 12, 26, 2)
    look(store, kitchen)
    kitchen.now += 200 * 24 * HOUR
    read(kitchen, 24, 26, 3)
    look(store, kitchen)
    assert found(store) == [("unusual", True)]
