"""PostgreSQL dumps of former companions (tests/data/companion-*/companion.dump.xz): the present one reads all of them."""

import lzma
from pathlib import Path

import pytest

from engram import log_line
from engram_host.companion.auth.tokens import token_digest
from engram_host.companion.recovery.backup_postgres import restore_postgres
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.database import bundled_migrations
from engram_host.companion.types import GatewayUse, LogName, RetentionLimits, SeqRange
from postgres_process import binaries
from postgres_server import PostgresServer

DATA = Path(__file__).resolve().parents[2] / "data"
SCHEMAS = {"companion-before-archive": 1, "companion-0.1": 4}
STEPS = [step.number for step in bundled_migrations("postgres")]


@pytest.fixture(params=SCHEMAS)
def former(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def store(former: str, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", f"{binaries()}:/usr/bin:/bin")
    postgres.empty()
    dump = tmp_path / "companion.dump"
    dump.write_bytes(lzma.decompress((DATA / former / "companion.dump.xz").read_bytes()))
    restore_postgres(dump, postgres.url)
    store = choose_store(postgres.url)
    assert len(store.open()) == sum(number > SCHEMAS[former] for number in STEPS)
    yield store
    store.close()


def lines(store: CompanionStore, log: LogName, epoch: int) -> list[dict]:
    span = SeqRange("kitchen", log, epoch, 0, log_line.MAX_SEQ)
    return [log_line.decode(line) for _, line in store.lines(span, archived=True)]


def test_all_lines_of_a_former_dump_are_there_and_whole(store: CompanionStore):
    device = store.device("kitchen")
    assert [len(lines(store, "records", device.logs["records"].epoch))] == [6]
    present = lines(store, "journal", device.logs["journal"].epoch)
    assert [line["seq"] for line in present] == list(range(6, 21))
    former = lines(store, "journal", device.logs["journal"].epoch - 1000)
    assert [line["seq"] for line in former] == list(range(1, 21))
    assert [line["text"] for line in former[5:]] == [line["text"] for line in present]
    store.check()
    assert store.damaged() == []


def test_tokens_counts_and_notes_of_a_former_dump_are_there(former: str, store: CompanionStore):
    assert store.get("note") == "kept"
    if SCHEMAS[former] < 4:
        assert store.tokens() == []
        return
    assert store.device_of(token_digest("token-of-the-fixture")) == "kitchen"
    assert store.gateway_used(20_000) == {"": GatewayUse(1, 100), "kitchen": GatewayUse(1, 100)}


def test_what_a_former_companion_replaced_is_kept_as_long_as_the_settings_say(store: CompanionStore):
    now = 1_760_000_000
    assert store.expire(RetentionLimits(former_days=10), now) == 0
    assert store.expire(RetentionLimits(former_days=10), now + 11 * 86400) == 20
