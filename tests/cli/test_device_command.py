"""`engram device` as a person uses it, and a real mosquitto with the files that it writes."""

import asyncio
import json
import os
import pwd
import shutil
import stat
import tempfile
from pathlib import Path

import aiomqtt
import pytest

from cli_case import engram
from engram.link import messages
from engram_host.companion.auth import mosquitto as mosquitto_files
from engram_host.companion.auth.mosquitto import (
    GROUP,
    MOSQUITTO_HOME_ASSISTANT,
    MOSQUITTO_USER,
    FileAccess,
    broker_secret,
)
from engram_host.companion.auth.tokens import LOOKS_LIKE_TOKEN
from engram_host.companion.home_assistant.publisher import device_messages
from engram_host.companion.store import open_store
from engram_host.companion.store.senses.types import StoredSense
from mqtt_marks import MARK, received_before_mark
from peers import Broker, Companion
from perceiving_board import PerceivingBoard
from sending import Sent
from waiting import SECONDS, wait_until


def device(home: Path, *words: str) -> tuple[int, str, str]:
    """Run `engram device`; status, output and errors."""
    ran = engram("device", *words, "--home", home)
    return ran.status, ran.out, ran.err


def made(home: Path, name: str, how: str = "add") -> str:
    status, told, _ = device(home, how, name, "--json")
    assert status == 0
    return json.loads(told)["token"]


def test_a_token_is_shown_once_with_what_the_board_needs(tmp_path: Path):
    status, told, _ = device(tmp_path / "home", "add", "kitchen")
    lines = [json.loads(line) for line in told.splitlines() if line.strip().startswith("{")]
    assert status == 0 and lines[0]["companion"]["device"] == "kitchen"
    token = lines[1]["companion"]["token"]
    _, listed, _ = device(tmp_path / "home", "list")
    assert "kitchen" in listed and token not in listed
    assert token.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "home").iterdir())


def test_a_companion_that_runs_sees_tokens_come_change_and_go(tmp_path: Path):
    with Companion(tmp_path / "home", ENGRAM_TOKENS="on") as companion:

        def status(token: str) -> int:
            return companion.client.get("/v1/health", headers={"Authorization": f"Bearer {token}"}).status_code

        first = made(companion.home, "kitchen")
        assert status(first) == 200
        second = made(companion.home, "kitchen", "rotate")
        assert status(second) == 200
        assert device(companion.home, "remove", "kitchen", "--json")[0] == 0

        wait_until("both tokens are nobody's", lambda: {status(first), status(second)} == {401})


class GuardedBroker(Broker):
    """mosquitto with the files of `engram device mosquitto`."""

    def __init__(self, files: Path, user: str = "root"):
        super().__init__()
        # It gives up root's rights unless told otherwise.
        user = f"user {user}\n" if os.getuid() == 0 else ""
        text = (files / "engram.conf").read_text()
        self._config.write_text(f"per_listener_settings false\n{user}listener {self.port} 127.0.0.1\n{text}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    """Where the companion's folder and mosquitto's files are."""
    folder = tmp_path_factory.mktemp("mosquitto")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def guarded(folder: Path):
    """A mosquitto for two devices; its port and everybody's password."""
    words = {name: made(folder / "home", name) for name in ("kitchen", "garden")}
    status, told, _ = device(folder / "home", "mosquitto", str(folder / "files"), "--json")
    assert status == 0
    words[MOSQUITTO_USER] = json.loads(told)["password"]
    for path in (folder / "files").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert not [word for word in words.values() if word in path.read_text()]
    with GuardedBroker(folder / "files") as broker:
        yield broker.port, words


def _client(guarded, name: str, password: str = "") -> aiomqtt.Client:
    port, words = guarded
    return aiomqtt.Client("127.0.0.1", port, username=name or None, password=password or words.get(name))


@pytest.mark.parametrize(
    ("name", "password"), [("", ""), ("kitchen", "wrong"), ("stranger", "x"), (MOSQUITTO_USER, "x")]
)
def test_mosquitto_lets_no_stranger_in(guarded, name: str, password: str):
    async def work() -> None:
        with pytest.raises(aiomqtt.MqttError):
            async with _client(guarded, name, password):
                raise AssertionError("is in")

    asyncio.run(work())


def test_mosquitto_gives_each_device_its_own_topics_only(guarded):
    async def work() -> None:
        async with (
            _client(guarded, MOSQUITTO_USER) as companion,
            _client(guarded, "kitchen") as board,
            _client(guarded, "garden") as other,
        ):
            await companion.subscribe("$share/companion/engram/v1/+/up", qos=1)
            await other.subscribe("engram/v1/garden/down", qos=1)
            await board.subscribe("engram/v1/kitchen/down", qos=1)
            for topic in ("engram/v1/+/down", "engram/v1/garden/down", "#"):
                await board.subscribe(topic, qos=1)
            for topic in ("engram/v1/garden/up", "engram/v1/garden/down", "engram/v1/kitchen/down"):
                await board.publish(topic, b"forged", qos=1)
            await board.publish("engram/v1/kitchen/up", b"own", qos=1)
            await companion.publish("engram/v1/garden/down", b"for the garden", qos=1)
            await companion.publish("engram/v1/kitchen/down", b"for the kitchen", qos=1)
            await board.publish("engram/v1/kitchen/up", MARK, qos=1)
            await companion.publish("engram/v1/garden/down", MARK, qos=1)
            await companion.publish("engram/v1/kitchen/down", MARK, qos=1)
            assert await received_before_mark(companion) == [("engram/v1/kitchen/up", b"own")]
            assert await received_before_mark(other) == [("engram/v1/garden/down", b"for the garden")]
            assert await received_before_mark(board) == [("engram/v1/kitchen/down", b"for the kitchen")]

    asyncio.run(work())


# --- who reads the files


def test_mosquitto_reads_the_files_as_its_own_user_and_the_companions_password_stays(tmp_path: Path):
    if os.getuid() != 0:
        pytest.skip("only root starts mosquitto as another user")
    home = tmp_path / "home"
    words = {"kitchen": made(home, "kitchen")}
    with tempfile.TemporaryDirectory(prefix="engram-mosquitto-") as folder:
        Path(folder).chmod(0o755)
        files = Path(folder) / "files"
        first, second = (_written(home, files, "--user", "nobody") for _ in range(2))
        assert first["password"] == second["password"] and "advice" not in second
        with GuardedBroker(files, "nobody") as broker:
            asyncio.run(_log_in((broker.port, words), "kitchen"))
            asyncio.run(_log_in((broker.port, {MOSQUITTO_USER: first["password"]}), MOSQUITTO_USER))


def _written(home: Path, files: Path, *words: str) -> dict[str, str]:
    status, told, _ = device(home, "mosquitto", str(files), *words, "--json")
    assert status == 0
    return json.loads(told)


async def _log_in(guarded, name: str) -> None:
    async with _client(guarded, name):
        pass


def test_files_that_mosquitto_cannot_read_come_with_what_to_do(tmp_path: Path):
    tmp_path.chmod(0o700)
    home, files = tmp_path / "home", tmp_path / "files"
    status, _, problem = device(home, "mosquitto", str(files), "--user", "nobody")
    assert status == 0 and "nobody" in problem and ("cannot open" in problem or "sudo chown" in problem)
    status, _, problem = device(home, "mosquitto", str(files), "--user", "no-such-user")
    assert status == 0 and "there is no user no-such-user" in problem


@pytest.mark.parametrize(
    ("uid", "groups", "access"),
    [
        (0, {0}, FileAccess(0o600, 901, 902)),
        (901, {902}, FileAccess(0o600)),
        (1000, {1000, 902}, FileAccess(0o640, -1, 902)),
    ],
    ids=["root", "mosquitto itself", "one of its group"],
)
def test_the_files_are_for_mosquittos_user_alone(uid: int, groups: set[int], access: FileAccess):
    user = pwd.struct_passwd(("mosquitto", "x", 901, 902, "", "/", "/bin/false"))
    assert mosquitto_files._access(user, uid, groups, Path("/etc/mosquitto/engram")) == access


# --- shared subscriptions, which mosquitto's access list does not check


@pytest.fixture(scope="module")
def served(folder: Path, guarded):
    """A companion at that mosquitto, reachable without tokens over HTTP."""
    port, words = guarded
    login = {"ENGRAM_MQTT_USERNAME": MOSQUITTO_USER, "ENGRAM_MQTT_PASSWORD": words[MOSQUITTO_USER]}
    with Companion(folder / "home", mqtt_url=f"mqtt://127.0.0.1:{port}", **login) as companion:
        yield companion


def test_a_board_that_joins_shared_subscriptions_takes_no_message_of_another_board(guarded, served: Companion):
    hello = {"version": 1, "zone": 0, "records": [7, 1, 1, 0], "journal": [8, 1, 1, 0], "relied": 0, "rule": ""}

    async def work() -> None:
        async with _client(guarded, "garden") as thief, _client(guarded, "kitchen") as board:
            for group in ("companion", "engram", "engram.companion"):
                await thief.subscribe(f"$share/{group}/engram/v1/+/up", qos=1)
            await board.subscribe("engram/v1/kitchen/down", qos=1)
            async with asyncio.timeout(SECONDS):
                for number in range(1, 21):
                    message = messages.encode("hello", "5f3a9c01", 1, number, **hello)
                    await board.publish("engram/v1/kitchen/up", message, qos=1)
                    answer = await anext(aiter(board.messages))
                    assert b'"op":"welcome"' in bytes(answer.payload)  # pyright: ignore[reportArgumentType]
            assert len(thief.messages) == 0

    asyncio.run(work())


def test_the_name_of_the_companions_group_is_a_secret_that_outlives_it(folder: Path):
    first, second = (_group(folder / "home") for _ in range(2))
    assert first == second and LOOKS_LIKE_TOKEN.fullmatch(first)


def _group(home: Path) -> str:
    store = open_store(f"sqlite:///{home}/companion.db")
    try:
        return broker_secret(store.values, GROUP)
    finally:
        store.close()


def _found(home: Path, port: int, **variables: str) -> tuple[str, str]:
    """Return the state of a broker as the doctor finds it, and its sentence."""
    ran = engram("doctor", "--home", home, "--json", ENGRAM_MQTT_URL=f"mqtt://127.0.0.1:{port}", **variables)
    return next((each["state"], each["told"]) for each in ran.json["checks"] if each["name"] == "broker")


@pytest.mark.parametrize(("tokens", "state"), [("auto", "watch"), ("on", "wrong")])
def test_the_doctor_finds_a_broker_that_lets_anybody_in(folder: Path, tokens: str, state: str):
    with Broker() as broker:
        found = _found(folder / "home", broker.port, ENGRAM_TOKENS=tokens)
    assert found[0] == state and "without a password" in found[1]


# --- Home Assistant


def test_home_assistant_hears_of_senses_through_mosquitto_with_these_files(tmp_path: Path):
    home, files, prefix = tmp_path / "home", tmp_path / "files", "my home/discovery"
    wanted = {"ENGRAM_MQTT_HOME_ASSISTANT": "true", "ENGRAM_MQTT_HOME_ASSISTANT_PREFIX": prefix}
    words = {"kitchen": made(home, "kitchen")}
    told = engram("device", "mosquitto", files, "--json", "--home", home, **wanted).json
    words |= told["programs"] | {MOSQUITTO_USER: told["password"]}
    assert list(told["programs"]) == [MOSQUITTO_HOME_ASSISTANT]
    shown = engram("device", "mosquitto", files, "--home", home, **wanted).out
    assert f"Home Assistant: user {MOSQUITTO_HOME_ASSISTANT}, password {words[MOSQUITTO_HOME_ASSISTANT]}" in shown
    with GuardedBroker(files) as broker:
        login = {"ENGRAM_MQTT_USERNAME": MOSQUITTO_USER, "ENGRAM_MQTT_PASSWORD": told["password"]}
        assert _found(home, broker.port, **login)[0] == "well"
        with Companion(home, mqtt_url=broker.url, **wanted, **login) as companion:
            kitchen = PerceivingBoard(Sent(companion.posted), tmp_path / "flash")
            kitchen.perceive("cellar", [11.5] * 70, unit="°C")
            kitchen.tell()
            guarded = broker.port, words
            expected = set(device_messages(prefix, "kitchen", [StoredSense(1, 0, "cellar", "°C", 1, 1, 0)], ()))
            assert asyncio.run(_heard(guarded, MOSQUITTO_HOME_ASSISTANT, len(expected))) == expected


async def _heard(guarded, name: str, count: int) -> set[str]:
    """The first topics that a user hears of."""
    async with _client(guarded, name) as client, asyncio.timeout(SECONDS):
        await client.subscribe("#", qos=1)
        heard: set[str] = set()
        async for message in client.messages:
            heard.add(message.topic.value)
            if len(heard) == count:
                break
        return heard


def test_without_home_assistant_nobody_writes_its_topics(tmp_path: Path):
    told = engram("device", "mosquitto", tmp_path / "files", "--json", "--home", tmp_path / "home").json
    assert "programs" not in told and "homeassistant" not in (tmp_path / "files" / "engram.topics").read_text()
