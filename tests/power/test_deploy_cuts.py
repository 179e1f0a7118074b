"""A deploy that is cut off at any change of the flash leaves the old code or the new code, after the next start, never both."""

import functools
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import get_micropython
from engram_host.boards import flash as flashing
from extent import extent
from flashes import BLOCK, Cut, Image, read_trace

ROOT = Path(__file__).resolve().parents[2]
SIZE = 48 * BLOCK
STARTS = "Engram 0.1.0 is starting ...\n"

Files = dict[str, bytes]

KEPT: Files = {"config.json": b"{}", "memory/memory_records.jsonl": b"x" * 700, "roots.pem": b"r" * 5000}
OLD: Files = {
    "boot.py": b"# old\n" * 40,
    "main.py": b"# old main\n",
    "code.json": b'{"version": "1"}' * 30,
    "module_packs.mpy": b"form 1 " * 90,
    "engram/engram.pack": b"engram-pack 1 " * 400,
    "engram/store.pack": b"engram-pack 1 " * 300,
    "engram/app.mpy": b"old app " * 700,
    "engram/clock.mpy": b"old clock " * 30,
    "engram/store/gone.mpy": b"old gone " * 100,
    "engram/gone/only.mpy": b"old only " * 20,
}
NEW: Files = {
    "boot.py": b"# new\n" * 50,
    "main.py": b"# new main\n",
    "engram/engram.pack": b"engram-pack 2 " * 300,
    "module_packs.mpy": b"form 2 " * 90,
    "engram/store.pack": b"engram-pack 2 " * 200,
    "engram/app.mpy": b"new app " * 900,
    "engram/clock.mpy": b"new clock " * 25,
    "engram/device/boot.mpy": b"new start " * 60,
    "engram/device/deep/er.mpy": b"new deeper " * 10,
    "code.json": b'{"version": "2"}' * 30,
}
GONE = ("engram/store/gone.mpy", "engram/store", "engram/gone/only.mpy", "engram/gone")
FIRST = extent(7, 95)
"""After one first cut in so many each second one is tried."""
READY = "".join([f"+ {path}\n" for path in NEW] + [f"- {path}\n" for path in GONE])
AFTER = {path: content for path, content in {**OLD, **NEW}.items() if path not in GONE}


@dataclass(frozen=True)
class Booted:
    """What a board told of a start."""

    sent: int
    changes: int
    printed: str

    @property
    def problems(self) -> str:
        """What it said beside that it starts, and that a deploy goes on."""
        return self.printed.removeprefix(STARTS).lstrip(".")


def boot(
    flashes: list[Path], *, send: bool = False, faults: Iterable[tuple[str, int]] = (), **more: object
) -> list[Booted]:
    """Start a board on each flash, with the project's boot.py; before that, if `send`, the deploy is sent.

    `faults` are those of the flashes, one each.
    """
    job = {"boot": (ROOT / "firmware" / "boot.py").read_text(encoding="utf-8"), **more}
    if send:
        job |= {"send": [[path, content.decode()] for path, content in NEW.items()], "ready": READY}
    jobs = [{**job, "flash": str(flash)} for flash in flashes]
    for each, fault in zip(jobs, faults, strict=False):
        each["fault"] = fault
    lines = "".join(json.dumps(each) + "\n" for each in jobs)
    names = ("tests/support/power", "tests/support/power/board", "tests/support/firmware", "boards/SIM", "firmware")
    path = ":".join([*(str(ROOT / name) for name in names), ".frozen"])
    done = subprocess.run(
        [get_micropython.HOME / "32", "-X", "heapsize=2m", ROOT / "tests/support/power/deploy_board.py"],
        input=lines.encode(),
        capture_output=True,
        timeout=120,
        env={**os.environ, "MICROPYPATH": path},
    )
    assert done.returncode == 0, (done.stdout[-500:] + done.stderr[-2000:]).decode()
    return [Booted(*json.loads(line)) for line in done.stdout.decode().splitlines()]


def holds(content: bytes) -> Files:
    """All files on a flash."""
    reader = flashing.LittlefsReader(lambda at, size: content[at : at + size])
    return {path: reader.content(path) for path in reader.sizes()}


@functools.cache
def base() -> bytes:
    """A board before the deploy."""
    return flashing.build_littlefs({**KEPT, **OLD}, SIZE)


@pytest.fixture
def flash(place: Path) -> Callable[[bytes], Path]:
    """Puts bytes into a file that a board can start on."""
    count = iter(range(100_000))

    def put(content: bytes) -> Path:
        path = place / f"deploy-{next(count)}.bin"
        path.write_bytes(content)
        return path

    return put


def images(changes: list, content: bytes) -> Iterator[tuple[Cut, bytes]]:
    """The flash after each cut."""
    now = Image(content)
    for number, change in enumerate(changes):
        yield Cut(number, False), bytes(now.content)
        yield Cut(number, True), bytes(now.with_half(change).content)
        now.apply(change)
    yield Cut(len(changes), False), bytes(now.content)


def check(cut: Cut, content: bytes, sent: int) -> None:
    """After a cut and a start the code is all old or all new, as the cut was before or after the end of sending."""
    found = holds(content)
    staged = {path: found.pop(path) for path in list(found) if path.startswith("next/")}
    assert found in ({**KEPT, **OLD}, {**KEPT, **AFTER}), f"{cut}: {sorted(found)}"
    is_new = found["code.json"] == NEW["code.json"]
    assert is_new or cut.changes < sent, f"{cut}: the deploy was lost"
    assert not is_new or not staged, f"{cut}: {sorted(staged)} is left"


def played(flash: Callable[[bytes], Path], tmp_path: Path) -> tuple[list, Booted]:
    """The changes of a deploy that is not cut off, and what the board told."""
    whole = flash(base())
    told = boot([whole], send=True, trace=str(tmp_path / "trace"))[0]
    assert holds(whole.read_bytes()) == {**KEPT, **AFTER} and not told.problems
    return read_trace(tmp_path / "trace"), told


def test_a_cut_at_any_change_leaves_the_old_code_or_the_new(flash: Callable[[bytes], Path], tmp_path: Path):
    # A start prints nothing but dots: what reads the packs is of their form, also where a deploy changes both.
    changes, told = played(flash, tmp_path)
    cuts = [(cut, flash(content)) for cut, content in images(changes, base())]
    assert not [booted for booted in boot([path for _, path in cuts]) if booted.problems]
    for cut, path in cuts:
        check(cut, path.read_bytes(), told.sent)


@pytest.mark.shortened
def test_a_second_cut_leaves_the_old_code_or_the_new(flash: Callable[[bytes], Path], tmp_path: Path):
    changes, told = played(flash, tmp_path)
    first = [(cut, content) for cut, content in images(changes, base()) if cut.changes >= told.sent][::FIRST]
    for cut, content in first:
        boot([flash(content)], trace=str(tmp_path / "second"))
        second = [flash(again) for _, again in images(read_trace(tmp_path / "second"), content)]
        boot(second)
        for path in second:
            check(cut, path.read_bytes(), told.sent)


@pytest.mark.shortened
@pytest.mark.parametrize("what", ["refused", "raised", "full"])
def test_a_flash_that_fails_at_any_change_is_reported_and_the_next_start_goes_on(
    what: str, flash: Callable[[bytes], Path], tmp_path: Path
):
    # A deploy that was sent, before the start that is to finish it.
    changes, told = played(flash, tmp_path)
    sent = next(content for cut, content in images(changes, base()) if cut.changes == told.sent)
    numbers = range(1, len(changes) - told.sent + 1, extent(1, 3))
    paths = [flash(sent) for _ in numbers]
    for number, failed in zip(numbers, boot(paths, faults=[(what, number) for number in numbers]), strict=True):
        assert failed.problems.startswith("\nboot.py: OSError"), number
    boot(paths)
    for number, path in zip(numbers, paths, strict=True):
        assert holds(path.read_bytes()) == {**KEPT, **AFTER}, number
