"""Photos and sounds that the companion keeps: types by their bytes, bounds, ids, and stops between file and row."""

import asyncio
import hashlib
import io
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import media_samples as samples
from companion_store import media_of
from engram.memory.access import OWNER, Caller
from engram_host.companion.errors import MediaRefused, SettingError
from engram_host.companion.media.service import MediaFiles, MediaService, caption_of, ids_in, type_of
from engram_host.companion.settings import MediaSettings, media_limits
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import MediaLimits
from one_case import in_one_case
from plain_board import PlainBoard

ANN, BEN = Caller("ann", "phone", False, ""), Caller("ben", "phone", False, "")
GROUP = Caller("ann", "house", True, "")
ALL_TYPES = media_limits(MediaSettings()).types


def limits(each: int = 1000, board: int = 100_000, count: int = 100, types: frozenset[str] = ALL_TYPES) -> MediaLimits:
    return MediaLimits(each, board, count, types)


@pytest.fixture
def media(store: CompanionStore, tmp_path: Path) -> Callable[..., MediaService]:
    """Services on one folder and one store with the boards kitchen and garden."""
    for name in ("kitchen", "garden"):
        PlainBoard(store, name, f"id-of-{name}").hello()
    return lambda **more: media_of(store, tmp_path, limits=limits(**more), clock=lambda: 1_795_000_000)


def kept_files(home: Path) -> list[str]:
    return MediaFiles(home).names()


def run(call: Any) -> Any:
    return asyncio.run(call)


# --- what is taken


@in_one_case(
    "data, expected",
    [
        (samples.JPEG, "image/jpeg"),
        (samples.png(), "image/png"),
        (samples.GIF, "image/gif"),
        (samples.WEBP, "image/webp"),
        (samples.OGG, "audio/ogg"),
        (samples.MP3, "audio/mpeg"),
        (samples.M4A, "audio/mp4"),
        (samples.WAV, "audio/wav"),
        (samples.FLAC, "audio/flac"),
    ],
)
def test_the_bytes_say_the_type(data: bytes, expected: str):
    assert type_of(data) == expected


def a_zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", bytes(1 << 20))
    return packed.getvalue()


def test_bytes_of_no_taken_type_are_refused_and_leave_no_file(media: Any, tmp_path: Path):
    for data in (
        b"", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<!doctype html><script>alert(1)</script>", b"\xff\xd8", b"RIFF\0\0\0\0AVI ", b"\0\0\0\x18ftypisom",
        b"%PDF-1.7", b"\x1f\x8b\x08\0", a_zip(),
    ):  # fmt: skip
        with pytest.raises(MediaRefused, match="of no type that is taken"):
            run(media(each=1 << 20).keep("kitchen", data, OWNER))
        assert kept_files(tmp_path) == [], data


def test_one_byte_too_many_is_refused(media: Any):
    photo = samples.png()
    assert run(media(each=len(photo)).keep("kitchen", photo, OWNER)).size == len(photo)
    with pytest.raises(MediaRefused, match="more than"):
        run(media(each=len(photo) - 1).keep("kitchen", photo, OWNER))


# --- what is kept


@pytest.mark.both_databases
def test_a_file_is_called_by_its_content_and_comes_back(media: Any, tmp_path: Path):
    service = media()
    kept = run(service.keep("kitchen", samples.JPEG, OWNER))
    assert kept_files(tmp_path) == [hashlib.sha256(samples.JPEG).hexdigest()] == [kept.sha]
    found = run(service.find("kitchen", kept.id))
    assert (found.type, found.size, found.scope, found.reference) == (
        *("image/jpeg", len(samples.JPEG), "user:owner"),
        f"media/{kept.id}",
    )
    assert run(service.read(found)) == samples.JPEG
    assert (tmp_path / "media").stat().st_mode & 0o777 == 0o700


@pytest.mark.both_databases
def test_the_same_content_again_is_the_same_for_one_person_and_another_for_others(media: Any, tmp_path: Path):
    service = media()
    first, again = (run(service.keep("kitchen", samples.JPEG, ANN)) for _ in range(2))
    others = [run(service.keep(name, samples.JPEG, caller)) for name, caller in (("kitchen", BEN), ("garden", ANN))]
    assert first.id == again.id and others[0].id != first.id and len(kept_files(tmp_path)) == 1
    run(service.delete("kitchen", first.id))
    assert run(service.read(others[0])) == run(service.read(others[1])) == samples.JPEG
    run(service.delete("kitchen", others[0].id))
    run(service.delete("garden", others[1].id))
    assert kept_files(tmp_path) == []


def test_what_a_person_sends_is_theirs_and_what_a_group_sends_is_for_all(media: Any):
    service = media()
    anns, groups = (run(service.keep("kitchen", samples.JPEG, caller)) for caller in (ANN, GROUP))
    assert (anns.scope, groups.scope) == ("user:ann", "all")
    texts = [f"[photo, {anns.reference}] x", f"[photo, {groups.reference}] y"]
    assert run(service.named_in("kitchen", texts)).keys() == {anns.id, groups.id}
    assert run(service.named_in("garden", texts)) == {}


@pytest.mark.both_databases
def test_the_oldest_go_first_beyond_a_count(media: Any, tmp_path: Path):
    service = media(count=3)
    kept = [run(service.keep("kitchen", samples.png(shade), OWNER)) for shade in range(3)]
    run(service.keep("kitchen", samples.png(0), OWNER))  # came again: it is the newest now
    run(service.keep("kitchen", samples.png(3), OWNER))
    run(service.keep("garden", samples.png(4), OWNER))
    assert [each.id for each in run(service.list("kitchen", 9, 99))][1:] == [kept[0].id, kept[2].id]
    assert len(kept_files(tmp_path)) == 4


def test_the_oldest_go_first_beyond_a_size(media: Any, tmp_path: Path):
    photos = [samples.png(shade) for shade in range(4)]
    service = media(board=len(photos[1]) + len(photos[2]) + len(photos[3]))
    kept = [run(service.keep("kitchen", photo, OWNER)) for photo in photos]
    assert [each.id for each in run(service.list("kitchen", 9, 99))] == [each.id for each in kept[:0:-1]]
    assert len(kept_files(tmp_path)) == 3


@pytest.mark.both_databases
def test_a_board_that_is_erased_keeps_no_row_and_upkeep_removes_its_file(
    media: Any, store: CompanionStore, tmp_path: Path
):
    service = media()
    run(service.keep("kitchen", samples.JPEG, OWNER))
    run(service.keep("garden", samples.GIF, OWNER))
    store.removal.erase_board("kitchen")
    assert MediaFiles(tmp_path).sweep(store.media.media_files) == 1
    assert store.media.boards_with_media() == ["garden"] and len(kept_files(tmp_path)) == 1


# --- two at once, and stops


def test_the_same_file_sent_and_deleted_by_many_at_once_has_a_file_for_each_row(
    media: Any, store: CompanionStore, tmp_path: Path
):
    service = media(count=2)
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait()
        for turn in range(12):
            kept = service.keep_now("kitchen", samples.png(turn % 3), (ANN, BEN)[number % 2])
            if turn % 4 == number:
                service.forget_now([kept])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert (
        {each.sha for each in store.media.list_media("kitchen", 9)}
        == set(kept_files(tmp_path))
        == store.media.media_files()
    )
    assert len(store.media.list_media("kitchen", 9)) <= 2


class Killed(BaseException):
    """The process ends here."""


def test_a_stop_between_file_and_row_leaves_a_file_that_upkeep_removes(
    media: Any, store: CompanionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    service = media()

    def killed(*_: object) -> Any:
        raise Killed

    monkeypatch.setattr(store.media, "keep_media", killed)
    with pytest.raises(Killed):
        service.keep_now("kitchen", samples.JPEG, OWNER)
    assert len(kept_files(tmp_path)) == 1 and store.media.media_files() == set()
    assert MediaFiles(tmp_path).sweep(store.media.media_files) == 1 and kept_files(tmp_path) == []


def test_a_full_disk_is_a_sentence_and_leaves_nothing(media: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    service = media()
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(MediaRefused, match="No space left on device"):
        service.keep_now("kitchen", samples.JPEG, OWNER)
    assert [path.name for path in (tmp_path / "media").iterdir()] == [".lock"]


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"<script>")])
def test_a_file_that_is_missing_or_damaged_is_not_served_and_can_come_again(media: Any, tmp_path: Path, damage: Any):
    service = media()
    kept = run(service.keep("kitchen", samples.JPEG, OWNER))
    damage(tmp_path / "media" / kept.sha)
    with pytest.raises(MediaRefused, match="missing or damaged"):
        run(service.read(kept))
    run(service.keep("kitchen", samples.JPEG, OWNER))
    assert run(service.read(kept)) == samples.JPEG


@in_one_case("name", ["../companion.db", "/etc/passwd", "..", "", "A" * 64, "a" * 63, "a" * 64 + "\0"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str):
    with pytest.raises(ValueError):
        MediaFiles(tmp_path).read(name)


# --- references and settings

ID = "0123456789abcdef"


@in_one_case(
    "text, ids, caption",
    [
        (f"[photo, media/{ID}] a fox", [ID], "a fox"),
        (f"[photo, 2026-09-23 10:00, media/{ID}] a fox [sic]", [ID], "a fox [sic]"),
        (f"a dog (2026-09-23 10:00, media/{ID})", [ID], "a dog"),
        (f"[photo, media/{ID}]", [ID], ""),
        (f"[photo, cam/media/{ID}] x", [], f"[photo, cam/media/{ID}] x"),
        (f"[photo, media/{ID}0] x", [], f"[photo, media/{ID}0] x"),
        (f"[photo, media/{ID}/../x] x", [], f"[photo, media/{ID}/../x] x"),
        (f"[photo, media/{ID.upper()}] x", [], f"[photo, media/{ID.upper()}] x"),
        ("[photo] a fox", [], "[photo] a fox"),
    ],
)
def test_references_are_found_in_texts(text: str, ids: list[str], caption: str):
    assert (ids_in(text), caption_of(text)) == (ids, caption)


@in_one_case("wrong", [{"types": "image/svg+xml"}, {"types": " "}, {"board_megabytes": 1, "megabytes": 2}])
def test_settings_that_cannot_be_meant_are_refused(wrong: dict[str, Any]):
    with pytest.raises(SettingError, match="media"):
        MediaSettings(**wrong)
