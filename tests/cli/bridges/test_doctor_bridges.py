"""`engram doctor` on bridges and alerts: a finding each, which says what to do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_case import engram
from engram_host.companion.auth.secrets import SecretStore
from failing_network import PASSWORD, FakeServer, fake_network


@pytest.fixture(autouse=True)
def server() -> Iterator[FakeServer]:
    with fake_network() as made:
        yield made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "companion.toml").write_text('[bridges.fake]\nserver = "localhost"\n')
    (tmp_path / "companion.toml").chmod(0o600)
    tmp_path.chmod(0o700)
    SecretStore(tmp_path, {}).keep("bridges.fake.password", PASSWORD)
    return tmp_path


def finding(home: Path, name: str) -> dict[str, str]:
    checks = engram("doctor", "--home", home, "--json").json["checks"]
    return next(each for each in checks if each["name"] == name)


def test_a_bridge_that_can_be_signed_in_to_is_well_and_sends_nothing(home: Path, server: FakeServer):
    found = finding(home, "bridge fake")
    assert (found["state"], found["told"]) == ("well", "signs in to Fake as engram@localhost")
    assert server.running == 0 and [network.sent for network in server.connections] == [[]]


def test_a_wrong_password_is_said(home: Path):
    SecretStore(home, {}).keep("bridges.fake.password", "wrong")
    found = finding(home, "bridge fake")
    assert (found["state"], found["do"]) == ("wrong", "the server does not know this password.")


def test_a_setting_that_serve_refuses_is_said(home: Path):
    (home / "companion.toml").write_text('[bridges.fake]\nserver = "localhost"\npassword = "hunter2"\n')
    found = finding(home, "bridge fake")
    assert found["state"] == "wrong" and "bridges.fake.password: is a secret" in found["do"]
    assert "hunter2" not in str(found)


def test_an_address_of_alerts_that_cannot_be_meant_is_said_and_not_shown(home: Path):
    SecretStore(home, {}).keep("alerts.urls", "nonsense://hunter2")
    found = finding(home, "alerts")
    assert found["state"] == "wrong" and "number 1 is no address" in found["do"] and "hunter2" not in str(found)
