"""`engram tls`: a board that has its roots.pem is copied over https; a certificate is renewed without the boards."""

import ssl
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import get_micropython
from cli_case import engram, fine
from one_case import in_one_case
from peers import BoardProcess, Companion
from waiting import wait_until

NAMED = {"ENGRAM_HTTP_CERTIFICATE": "tls/companion.pem", "ENGRAM_HTTP_KEY": "tls/companion.key"}


class SecureCompanion(Companion):
    """A companion with the files of `engram tls`, which asks for tokens."""

    def __init__(self, home: Path):
        super().__init__(home, ENGRAM_TOKENS="on", **NAMED)
        self.client.close()
        self.url = self.url.replace("http://", "https://")
        trust = ssl.create_default_context(cafile=str(home / "tls" / "authority.pem"))
        self.client = httpx.Client(base_url=self.url, timeout=120, verify=trust)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a companion for which certificates were made."""
    home = tmp_path_factory.mktemp("tls") / "home"
    fine("tls", "companion.lan", "192.168.1.10", "--home", home)
    return home


@pytest.fixture(scope="module")
def token(home: Path) -> str:
    """The token of the board `kitchen`."""
    return fine("device", "add", "kitchen", "--home", home, "--json").json["token"]


@pytest.fixture(scope="module")
def companion(home: Path, token: str) -> Iterator[SecureCompanion]:
    if not get_micropython.usable(get_micropython.HOME / "64", 64):
        pytest.skip("there is no MicroPython for this machine")
    with SecureCompanion(home) as running:
        yield running


@pytest.fixture(scope="module")
def former_roots(home: Path) -> bytes:
    """The roots.pem that was put on boards before the certificate was renewed."""
    before = (home / "tls" / "roots.pem").read_bytes()
    first = (home / "tls" / "companion.pem").read_bytes()
    renewed = fine("tls", "--home", home, "--json").json
    assert (home / "tls" / "companion.pem").read_bytes() != first
    assert renewed["names"][:2] == ["companion.lan", "192.168.1.10"] and not renewed["new_authority"]
    return before


def test_a_board_with_the_roots_is_copied_also_after_the_certificate_was_renewed(
    tmp_path: Path, former_roots: bytes, companion: SecureCompanion, token: str
):
    board_home = tmp_path / "board"
    board_home.mkdir()
    (board_home / "roots.pem").write_bytes(former_roots)
    (board_home / "secrets.json").write_text(f'{{"companion.token": "{token}"}}')
    with BoardProcess(board_home, companion.url, "kitchen") as board:
        board.say("remember that my bike is green")
        wait_until("it is copied", lambda: "my bike is green" in str(companion.lines("kitchen", "records")))
        assert "connected to https://" in board.answered("/stats")


def test_only_its_owner_reads_the_keys(home: Path):
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (home / "tls").iterdir()}
    public = {name: mode for name, mode in modes.items() if mode & 0o077}
    assert public == dict.fromkeys(("authority.pem", "companion.pem", "roots.pem"), 0o644)
    assert {"authority.key", "companion.key"} < set(modes)
    assert stat.S_IMODE((home / "tls").stat().st_mode) == 0o700


@in_one_case("name", ["https://companion.lan", "companion.lan:8765", "a b", "-x.lan", ""])
def test_what_is_no_name_is_refused_and_nothing_is_written(tmp_path: Path, name: str):
    ran = engram("tls", "--home", tmp_path, "--", name)
    assert ran.status == 2 and "neither a host name nor an address" in ran.err
    assert not list((tmp_path / "tls").glob("*.pem"))


def test_an_authority_without_its_key_is_kept_and_told(tmp_path: Path):
    fine("tls", "companion.lan", "--home", tmp_path)
    before = (tmp_path / "tls" / "authority.pem").read_bytes()
    (tmp_path / "tls" / "authority.key").unlink()
    ran = engram("tls", "--home", tmp_path)
    assert ran.status == 2 and "authority.key" in ran.err and "put it back" in ran.err
    assert (tmp_path / "tls" / "authority.pem").read_bytes() == before
