"""SQLite files of former companions (tests/data/companion-*): the present one reads all of them and writes on."""

import lzma
from pathlib import Path

import pytest

from engram import log_line
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.database import bundled_migrations
from engram_host.companion.types import LOGS, Hello, LineBatch, LogName, LogState, Sender, SeqRange

DATA = Path(__file__).resolve().parents[2] / "data"

FORMER = {
    # Its folder: the schema, the lines up to which each copy is whole, and of how many of them there is a copy.
    "companion-before-archive": (1, {"records": 1, "journal": 4}, {"records": 1, "journal": 4}),
    "companion-0.1": (4, {"records": 8, "journal": 95}, {"records": 8, "journal": 6}),
}

STEPS = [step.number for step in bundled_migrations("sqlite")]


@pytest.fixture(params=FORMER)
def former(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def store(former: str, tmp_path: Path):
    path = tmp_path / "companion.db"
    path.write_bytes(lzma.decompress((DATA / former / "companion.db.xz").read_bytes()))
    store = choose_store(f"sqlite:///{path}")
    migrated = store.open()
    assert len(migrated) == sum(number > FORMER[former][0] for number in STEPS)
    yield store
    store.close()


def lines(store: CompanionStore, log: LogName) -> list[dict]:
    device = store.device("kitchen")
    span = SeqRange("kitchen", log, device.logs[log].epoch, 0, device.have[log])
    return [log_line.decode(line) for _, line in store.lines(span)]


def test_all_lines_of_a_former_database_are_there_and_whole(former: str, store: CompanionStore):
    _, have, counts = FORMER[former]
    assert store.device("kitchen").have == have
    assert {log: len(lines(store, log)) for log in LOGS} == counts


def test_a_board_goes_on_where_the_former_companion_stopped(former: str, store: CompanionStore):
    device = store.device("kitchen")
    sender = Sender("5f3a9c01", 1, 1)
    logs: dict[LogName, LogState] = {
        log: LogState(state.epoch, state.oldest, state.next + (log == "journal"), state.rewrites)
        for log, state in device.logs.items()
    }
    later = device.heard + 3600
    welcome = store.greet(Hello("kitchen", sender, 0, logs), later)
    assert {log: held.have for log, held in welcome.logs.items()} == device.have
    seq = device.have["journal"] + 1
    line = log_line.encode(
        [("seq", seq), ("sid", "s1"), ("role", "user"), ("who", "owner"), ("text", "on"), ("at", later)]
    )
    span = SeqRange("kitchen", "journal", logs["journal"].epoch, seq - 1, seq)
    assert store.store_batches([LineBatch(Sender("5f3a9c01", 1, 2), span, [(seq, line)])], later) == [seq]
    assert lines(store, "journal")[-1]["text"] == "on"
