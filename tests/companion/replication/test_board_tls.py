"""A real board over TLS, by either way: it trusts the authority in its roots.pem alone, and shows its token to no other."""

import ssl
from pathlib import Path

import httpx
import pytest
import trustme

import get_micropython
from cli_case import fine
from extent import with_more
from peers import BoardProcess, Companion
from waiting import wait_until

pytestmark = pytest.mark.skipif(
    not get_micropython.usable(get_micropython.HOME / "64", 64), reason="there is no MicroPython for this machine"
)


class SecureCompanion(Companion):
    """A companion whose API and broker both have TLS and ask for tokens."""

    def __init__(self, home: Path, authority: trustme.CA):
        home.mkdir()
        authority.issue_cert("localhost", "127.0.0.1").private_key_and_cert_chain_pem.write_to_path(home / "own.pem")
        named = {f"ENGRAM_{name}_{part}": "own.pem" for name in ("HTTP", "MQTT") for part in ("CERTIFICATE", "KEY")}
        super().__init__(home, ENGRAM_SECURITY_TOKENS="on", **named)
        trust = ssl.create_default_context()
        authority.configure_trust(trust)
        self.client.close()
        self.url = self.url.replace("http://127.0.0.1", "https://localhost")
        self.client = httpx.Client(base_url=self.url, timeout=120, verify=trust)
        self.mqtt_url = self.mqtt_url.replace("mqtt://127.0.0.1", "mqtts://localhost")


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def companion(tmp_path: Path, authority: trustme.CA):
    with SecureCompanion(tmp_path / "companion", authority) as running:
        yield running


def _board(folder: Path, url: str, token: str, roots: trustme.CA) -> BoardProcess:
    folder.mkdir()
    roots.cert_pem.write_to_path(folder / "roots.pem")
    (folder / "secrets.json").write_text(f'{{"companion.token": "{token}"}}')
    return BoardProcess(folder, url, "kitchen")


def _token(companion: Companion) -> str:
    return fine("device", "add", "kitchen", "--home", companion.home, "--json").json["token"]


@pytest.mark.parametrize("way", with_more(["mqtts"], ["https"]))
def test_a_board_is_copied_over_tls(tmp_path: Path, companion: SecureCompanion, authority: trustme.CA, way: str):
    url = companion.mqtt_url if way == "mqtts" else companion.url
    assert url.startswith(way + "://")
    with _board(tmp_path / "board", url, _token(companion), authority) as board:
        board.say("remember that the bike is green")
        wait_until("it is copied", lambda: "the bike is green" in str(companion.lines("kitchen", "records")))
        assert "connected to " + way in board.answered("/companion")


@pytest.mark.parametrize("way", with_more(["https"], ["mqtts"]))
def test_a_board_does_not_speak_to_a_companion_that_another_authority_vouches_for(
    tmp_path: Path, companion: SecureCompanion, way: str
):
    url = companion.mqtt_url if way == "mqtts" else companion.url
    with _board(tmp_path / "board", url, _token(companion), trustme.CA()) as board:
        wait_until("the board says why", lambda: "certificate" in board.answered("/companion").lower())
        assert "not connected" in board.answered("/companion")
        assert companion.lines("kitchen", "records") == []
