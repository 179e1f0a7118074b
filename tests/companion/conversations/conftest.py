"""A program at the door for programs, on both databases."""

import time

import pytest

from door_program import Program
from engram_host.companion.conversations import mqtt_door
from engram_host.companion.conversations import service as conversations
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import LOGS, Hello, LogState, Sender

BOARD = Sender("b1", 3, 9)


@pytest.fixture
def program(store: CompanionStore, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A program, at a companion that knows the board `kitchen`."""
    monkeypatch.setattr(conversations, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(mqtt_door, "RETRY_SECONDS", 0.02)
    store.replication.greet(Hello("kitchen", BOARD, 0, {name: LogState(7, 1, 1, 0) for name in LOGS}), int(time.time()))
    return Program(store)
