"""A real board over TLS, by either way: it trusts the authority in its roots.pem alone, and shows its token to no other."""

import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
import trustme

import get_mosquitto
from cli_case import fine
from extent import with_more
from peers import BoardProcess, Broker, Companion
from skips import needs_64_bit
from waiting import wait_until

pytestmark = needs_64_bit


class SecureBroker(Broker):
    """mosquitto with TLS."""

    def __init__(self, folder: Path):
        super().__init__()
        self._config.write_text(
            f"{self._config.read_text()}certfile {folder / 'own.pem'}\nkeyfile {folder / 'own.pem'}\n"
        )
        self.url = f"mqtts://localhost:{self.port}"


class SecureCompanion(Companion):
    """A companion whose API has TLS, and so has its broker if there is one."""

    def __init__(self, home: Path, authority: trustme.CA, broker: str):
        named = {
            "ENGRAM_HTTP_CERTIFICATE": "own.pem",
            "ENGRAM_HTTP_KEY": "own.pem",
            "ENGRAM_MQTT_AUTHORITY": "authority.pem",
        }
        super().__init__(home, broker, ENGRAM_TOKENS="on", **named)
        trust = ssl.create_default_context()
        authority.configure_trust(trust)
        self.client.close()
        self.url = self.url.replace("http://127.0.0.1", "https://localhost")
        self.client = httpx.Client(base_url=self.url, timeout=120, verify=trust)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def way(request: pytest.FixtureRequest, tmp_path: Path, authority: trustme.CA) -> Iterator[tuple[Companion, str]]:
    """A companion, and the URL under which boards reach it by a scheme."""
    home = tmp_path / "companion"
    home.mkdir()
    authority.issue_cert("localhost", "127.0.0.1").private_key_and_cert_chain_pem.write_to_path(home / "own.pem")
    authority.cert_pem.write_to_path(home / "authority.pem")
    with ExitStack() as stack:
        broker = ""
        if request.param == "mqtts":
            if not get_mosquitto.usable():
                pytest.skip("there is no mosquitto for this machine")
            broker = stack.enter_context(SecureBroker(home)).url
        companion = stack.enter_context(SecureCompanion(home, authority, broker))
        yield companion, broker or companion.url


def _board(folder: Path, url: str, token: str, roots: trustme.CA) -> BoardProcess:
    folder.mkdir()
    roots.cert_pem.write_to_path(folder / "roots.pem")
    (folder / "secrets.json").write_text(f'{{"companion.token": "{token}"}}')
    return BoardProcess(folder, url, "kitchen")


def _token(companion: Companion) -> str:
    return fine("device", "add", "kitchen", "--home", companion.home, "--json").json["token"]


@pytest.mark.parametrize("way", with_more(["mqtts"], ["https"]), indirect=True)
def test_a_board_is_copied_over_tls(tmp_path: Path, way: tuple[Companion, str], authority: trustme.CA):
    companion, url = way
    with _board(tmp_path / "board", url, _token(companion), authority) as board:
        board.say("remember that the bike is green")
        wait_until("it is copied", lambda: "the bike is green" in str(companion.lines("kitchen", "records")))
        assert "connected to " + url in board.answered("/stats")


@pytest.mark.parametrize("way", with_more(["https"], ["mqtts"]), indirect=True)
def test_a_board_does_not_speak_to_a_companion_that_another_authority_vouches_for(
    tmp_path: Path, way: tuple[Companion, str]
):
    companion, url = way
    with _board(tmp_path / "board", url, _token(companion), trustme.CA()) as board:
        wait_until("the board says why", lambda: "certificate" in board.answered("/stats").lower())
        assert "not connected" in board.answered("/stats")
        assert companion.lines("kitchen", "records") == []
