"""`engram bridge`: nothing is kept before the account was signed in to, and secrets stay out of companion.toml."""

import asyncio
import io
import stat
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli_case import Ran, audit_log, engram, fine
from companion_thread import companion_thread
from engram_host.cli.bridges import bridge
from engram_host.cli.exit_status import FAILED, WRONG_USAGE
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridges.errors import NetworkAway
from engram_host.companion.bridges.network import BridgeHost, Chat, Incoming
from failing_network import PASSWORD, FakeNetwork, FakeServer, fake_network, serve
from waiting import wait_until

SET = ("--set", "server=localhost")


@pytest.fixture(autouse=True)
def server() -> Iterator[FakeServer]:
    with fake_network() as made:
        yield made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def add(home: Path, monkeypatch: pytest.MonkeyPatch, *words: str, stdin: str = f"password={PASSWORD}\n") -> Ran:
    monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
    return engram("bridge", "add", "fake", *words, "--home", home)


def tables(home: Path) -> dict:
    return tomllib.loads((home / "companion.toml").read_text()).get("bridges", {})


def test_a_bridge_is_added_listed_and_removed(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"password={PASSWORD}\n"))
    added = fine("bridge", "add", "fake", *SET, "--home", home, "--json")
    assert added.json == {"name": "fake", "network": "fake", "account": "engram@localhost", "running": False}
    assert tables(home) == {"fake": {"network": "fake", "server": "localhost"}}
    assert SecretStore(home, {}).find("bridges.fake.password") == PASSWORD
    (listed,) = fine("bridge", "list", "--home", home, "--json").json
    assert (listed["name"], listed["state"], listed["boards"]) == ("fake", "not running", [])
    assert fine("bridge", "remove", "fake", "--home", home, "--json").json == {"name": "fake", "removed": True}
    assert tables(home) == {} and list((home / "secrets").iterdir()) == []


def test_secrets_are_in_no_file_that_others_read_and_in_no_output(home: Path, monkeypatch: pytest.MonkeyPatch):
    ran = add(home, monkeypatch, *SET)
    assert PASSWORD not in ran.out + ran.err + (home / "companion.toml").read_text()
    secret = home / "secrets" / "bridges.fake.password"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "companion.toml").stat().st_mode) == 0o600


def test_comments_and_all_else_in_companion_toml_stay(home: Path, monkeypatch: pytest.MonkeyPatch):
    home.mkdir()
    text = '# my companion\n[http]\nport = 8765 # the usual one\n\n[bridges.irc] # ours\nserver = "localhost:6667"\n'
    (home / "companion.toml").write_text(text)
    (home / "companion.toml").chmod(0o640)
    add(home, monkeypatch, *SET)
    written = (home / "companion.toml").read_text()
    assert written.startswith(text.rstrip("\n")) and set(tables(home)) == {"irc", "fake"}
    assert stat.S_IMODE((home / "companion.toml").stat().st_mode) == 0o640
    fine("bridge", "remove", "fake", "--home", home)
    assert (home / "companion.toml").read_text().strip() == text.strip()


def test_a_wrong_password_changes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch):
    ran = add(home, monkeypatch, *SET, stdin="password=wrong\n")
    assert ran.status == FAILED and "nothing is changed: the server does not know this password." in ran.err
    assert not home.exists()


@pytest.mark.parametrize(
    "error", [NetworkAway(f"no way to {PASSWORD}."), RuntimeError(PASSWORD), SystemExit(PASSWORD), KeyError(PASSWORD)]
)
def test_whatever_the_library_raises_is_one_sentence_without_a_secret(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
):
    async def check(self: FakeNetwork) -> str:
        raise error

    monkeypatch.setattr(FakeNetwork, "check", check)
    ran = add(home, monkeypatch, *SET)
    assert ran.status == FAILED and PASSWORD not in ran.err and not home.exists()


def test_a_server_that_never_answers_ends_the_command(home: Path, monkeypatch: pytest.MonkeyPatch):
    async def check(self: FakeNetwork) -> str:
        import asyncio

        await asyncio.get_running_loop().create_future()
        return ""

    monkeypatch.setattr(FakeNetwork, "check", check)
    monkeypatch.setattr(bridge, "CHECK_SECONDS", 0.01)
    assert "did not answer within" in add(home, monkeypatch, *SET).err


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        ((), "password=x\n", "--set server=..."),
        (SET, "", "a line password=... on its stdin"),
        ((*SET, "--set", "password=hunter2"), "", "would show a secret to all users"),
        ((*SET, "--set", "colour=red"), "password=x\n", "has the fields server, nickname, password, token"),
        ((*SET, "--set", "server"), "password=x\n", "FIELD=VALUE"),
        ((*SET, "--name", "Bad Name"), "password=x\n", "no name of a bridge"),
    ],
)
def test_what_is_missing_or_wrong_is_named(home: Path, monkeypatch: pytest.MonkeyPatch, words, stdin: str, said: str):
    ran = add(home, monkeypatch, *words, stdin=stdin)
    assert ran.status == WRONG_USAGE and said in ran.err and "hunter2" not in ran.err and not home.exists()


def test_a_person_is_asked_for_each_field_and_secrets_are_not_shown(home: Path, monkeypatch: pytest.MonkeyPatch):
    answers = iter(["", "localhost", "", PASSWORD, ""])
    asked: list[tuple[str, bool]] = []

    def answer(question: str, *, is_hidden: bool = False) -> str:
        asked.append((question, is_hidden))
        return next(answers)

    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(bridge, "input", lambda question: answer(question), raising=False)
    monkeypatch.setattr(bridge.getpass, "getpass", lambda question: answer(question, is_hidden=True))
    fine("bridge", "add", "fake", "--home", home)
    assert asked == [
        ("address of the server: ", False),
        ("address of the server: ", False),
        ("nickname [engram]: ", False),
        ("its password: ", True),
        ("a token (empty: none): ", True),
    ]
    assert tables(home)["fake"] == {"network": "fake", "server": "localhost", "nickname": "engram"}


def test_a_second_bridge_of_a_network_needs_a_name_and_a_replacement_has_to_be_meant(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    add(home, monkeypatch, *SET)
    ran = add(home, monkeypatch, *SET)
    assert ran.status == FAILED and "--name" in ran.err and "--replace" in ran.err
    assert add(home, monkeypatch, *SET, "--name", "second").status == 0
    assert add(home, monkeypatch, "--set", "server=other", "--replace").status == 0
    assert {name: table["server"] for name, table in tables(home).items()} == {"fake": "other", "second": "localhost"}


# --- beside a companion that runs


def test_a_companion_that_runs_takes_up_what_is_added_and_removed(
    home: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer
):
    home.mkdir(mode=0o700)
    with companion_thread(home):
        assert fine("bridge", "list", "--home", home, "--json").json == []
        assert "The companion runs it now" in add(home, monkeypatch, *SET).out
        wait_until("it is connected", lambda: _state(home) == "connected")
        (listed,) = fine("bridge", "list", "--home", home, "--json").json
        assert (listed["account"], listed["boards"]) == ("engram@fake", [])
        (reloaded,) = fine("bridge", "reload", "--home", home, "--json").json
        assert (reloaded["state"], reloaded["starts"]) == ("connected", 1)
        fine("bridge", "remove", "fake", "--home", home)
        assert fine("bridge", "list", "--home", home, "--json").json == [] and server.running == 0
        actions = [entry.action for entry in audit_log(home)]
        assert {"bridge add fake", "bridge remove fake"} <= set(actions)


def _state(home: Path) -> str:
    (listed,) = fine("bridge", "list", "--home", home, "--json").json
    return listed["state"]


BRIDGE = '[bridges.fake]\nserver = "localhost"\n'


def _strangers(home: Path, server: FakeServer) -> Callable[[str], list[str]]:
    """Let there be a bridge; a call that lets a stranger write through it, and gives those who have a code then."""
    loops: list[asyncio.AbstractEventLoop] = []

    async def behave(host: BridgeHost) -> None:
        loops.append(asyncio.get_running_loop())
        await serve(host)

    def write(sender: str) -> list[str]:
        host = server.connections[-1].host
        assert host is not None
        message = Incoming(f"of {sender}", Chat(sender), sender, text="hello")
        asyncio.run_coroutine_threadsafe(host.receive(message), loops[-1]).result(30)
        return [each["ref"] for each in fine("people", "list", "--home", home, "--json").json["waiting"]]

    home.mkdir(mode=0o700)
    SecretStore(home, {}).keep("bridges.fake.password", PASSWORD)
    server.behaviours = [behave]
    return write


def test_a_reload_changes_who_may_talk(home: Path, server: FakeServer):
    write = _strangers(home, server)
    settings = home / "companion.toml"
    settings.write_text('[people]\npolicy = "off"\n' + BRIDGE)
    with companion_thread(home):
        wait_until("it is connected", lambda: _state(home) == "connected")
        assert write("5") == []
        settings.write_text('[people]\npolicy = "pairing"\n' + BRIDGE)
        fine("bridge", "reload", "--home", home)
        assert write("5") == ["fake:5"]
        settings.write_text(BRIDGE + 'policy = "off"\n')
        fine("bridge", "reload", "--home", home)
        wait_until("it is connected again", lambda: _state(home) == "connected")
        assert write("6") == ["fake:5"]


def test_a_reload_with_a_wrong_setting_lets_nobody_else_talk(home: Path, server: FakeServer):
    write = _strangers(home, server)
    settings = home / "companion.toml"
    settings.write_text('[people]\npolicy = "off"\n' + BRIDGE)
    with companion_thread(home):
        wait_until("it is connected", lambda: _state(home) == "connected")
        settings.write_text(BRIDGE + '[bridges.fake2]\nnetwork = "fake"\ncolour = "x"\n')
        assert engram("bridge", "reload", "--home", home).status == WRONG_USAGE
        assert write("5") == []
