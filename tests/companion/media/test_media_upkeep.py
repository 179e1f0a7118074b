"""Media go with the turn or memory that names them, once no other one does; what nothing ever named goes after some days."""

import asyncio
from pathlib import Path

import pytest

import media_samples as samples
from companion_store import media_of
from engram import log_line
from engram.memory.access import Caller
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.media import upkeep as upkeep_module
from engram_host.companion.media.service import MediaFiles
from engram_host.companion.media.upkeep import MediaUpkeep
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.media import StoredMedia
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import LogName
from one_case import in_one_case
from plain_board import PlainBoard
from waiting import wait_until_async

NOW = 1_795_000_000
DAY = 86400
ANN, BEN = Caller("ann", "phone", False, ""), Caller("ben", "phone", False, "")


class Kept:
    """A board with its media, and the upkeep of these."""

    def __init__(self, store: CompanionStore, home: Path):
        self.store, self.now = store, NOW
        files = MediaFiles(home)
        self.files = files
        self.service = media_of(store, home, clock=lambda: self.now)
        self.upkeep = MediaUpkeep(
            boards=store.boards,
            media=store.media,
            service=self.service,
            waiting_days=7,
            supervisor=Supervisor(),
            clock=lambda: self.now,
        )
        self.board = PlainBoard(store, "kitchen")
        self.board.sync()

    def later(self) -> None:
        """A message takes some seconds to its board and back."""
        self.now += 5
        self.board.now = self.now

    def photo(self, caller: Caller = ANN, shade: int = 0) -> StoredMedia:
        return self.service.keep_now("kitchen", samples.png(shade), caller)

    def write(self, log: LogName, *fields: tuple[str, object]) -> int:
        """Let the board write a line and send it; its seq."""
        state = self.board.logs[log]
        seq = state.next
        state.lines[seq] = log_line.encode([("seq", seq), *fields])
        state.next += 1
        self.later()
        self.board.sync()
        return seq

    def turn(self, text: str, scope: str = "user:ann", sid: str = "s1") -> int:
        said = ("sid", sid), ("role", "user"), ("who", "ann"), ("text", text), ("at", NOW), ("prev", 0), ("n", 0)
        return self.write("journal", *said, *([("scope", scope)] if scope != "all" else []))

    def memory(self, content: str, scope: str = "user:ann") -> int:
        seq = self.board.logs["records"].next
        said = ("id", f"m{seq}"), ("content", content), ("tags", ["event"]), ("scope", scope), ("created", NOW)
        return self.write("records", *said)

    def look(self, days: int = 0) -> list[str]:
        """The media that are left after the upkeep has looked."""
        self.now += days * DAY
        self.upkeep.look()
        return sorted(each.id for each in self.store.media.list_media("kitchen", 99))


@pytest.fixture
def kept(store: CompanionStore, tmp_path: Path) -> Kept:
    return Kept(store, tmp_path)


@pytest.mark.both_databases
def test_what_a_turn_names_stays_for_ever_and_what_nothing_names_for_some_days(kept: Kept):
    named, unnamed = kept.photo(shade=1), kept.photo(shade=2)
    kept.turn(f"[photo, {named.reference}] a fox")
    assert kept.look(7) == sorted([named.id, unnamed.id])
    assert kept.look(2) == [named.id] == kept.look(4000)
    assert kept.files.names() == [named.sha]


def test_a_photo_goes_with_its_forgotten_turn(kept: Kept):
    photo = kept.photo()
    turn = kept.turn(f"[photo, {photo.reference}] a fox")
    assert kept.look() == [photo.id]
    kept.write("journal", ("op", "redact"), ("turn", turn), ("at", NOW))
    assert kept.look() == [] == kept.files.names()


def test_a_photo_goes_with_its_deleted_session(kept: Kept):
    photo = kept.photo()
    kept.turn(f"[photo, {photo.reference}] a fox", sid="s2")
    kept.write("journal", ("op", "drop"), ("sid", "s2"), ("at", NOW))
    assert kept.look() == []


def test_a_photo_goes_with_a_forgotten_memory(kept: Kept):
    photo = kept.photo()
    memory = kept.memory(f"a fox ({photo.reference})")
    assert kept.look(20) == [photo.id]
    kept.write("records", ("op", "forget"), ("id", f"m{memory}"), ("at", NOW))
    assert kept.look() == []


def test_a_photo_that_two_turns_name_goes_with_the_last_of_them(kept: Kept):
    photo = kept.photo()
    first, second = (kept.turn(f"[photo, {photo.reference}] {text}") for text in ("a fox", "again"))
    kept.write("journal", ("op", "redact"), ("turn", first), ("at", NOW))
    assert kept.look() == [photo.id]
    kept.write("journal", ("op", "redact"), ("turn", second), ("at", NOW))
    assert kept.look() == []


def test_the_same_photo_sent_again_after_it_was_forgotten_waits_for_its_turn(kept: Kept):
    turn = kept.turn(f"[photo, {kept.photo().reference}] a fox")
    kept.write("journal", ("op", "redact"), ("turn", turn), ("at", NOW))
    kept.now += DAY
    photo = kept.photo()
    assert kept.look() == [photo.id] == kept.look(7)
    assert kept.look(2) == []


@in_one_case("scope", ["user:ben", "all"])
def test_nobody_keeps_what_another_one_has_forgotten(kept: Kept, scope: str):
    photo = kept.photo(ANN)
    turn = kept.turn(f"[photo, {photo.reference}] a fox")
    kept.turn(f"[photo, {photo.reference}] I was here", scope)
    kept.memory(f"look at {photo.reference}", scope)
    kept.write("journal", ("op", "redact"), ("turn", turn), ("at", NOW))
    assert kept.look() == []


def test_photos_of_a_board_that_was_reset_stay_with_the_former_copy(kept: Kept):
    photo = kept.photo()
    kept.turn(f"[photo, {photo.reference}] a fox")
    assert kept.look() == [photo.id]
    journal = kept.board.logs["journal"]
    journal.epoch += 1_000_000
    journal.lines.clear()
    journal.next = 1
    kept.board.sync()
    kept.turn("hello again")
    assert kept.look(20) == [photo.id]


def test_upkeep_looks_when_it_is_woken_and_goes_on_after_a_failure(kept: Kept, monkeypatch: pytest.MonkeyPatch):
    for name in ("FIRST_SECONDS", "SETTLE_SECONDS"):
        monkeypatch.setattr(upkeep_module, name, 0.0)
    boards, failures = kept.store.media.boards_with_media, 0

    def failing() -> list[str]:
        nonlocal failures
        if failures < 1:
            failures += 1
            raise StoreUnavailable("away.")
        return boards()

    monkeypatch.setattr(kept.store.media, "boards_with_media", failing)
    photo = kept.photo()
    turn = kept.turn(f"[photo, {photo.reference}] a fox")
    kept.write("journal", ("op", "redact"), ("turn", turn), ("at", NOW))

    async def work() -> None:
        kept.upkeep.start()
        await wait_until_async("it has failed", lambda: failures == 1)
        kept.upkeep.wake()
        await wait_until_async("it is removed", lambda: kept.files.names() == [])
        await kept.upkeep.stop()

    asyncio.run(work())
