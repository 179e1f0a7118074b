"""Alerts: each thing is told once, whatever restarts; an address that fails delays no other; nothing piles up."""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from engram_host.companion.alerts import service as service_module
from engram_host.companion.alerts.apprise_address import URLS, read_addresses
from engram_host.companion.alerts.service import (
    MOST_WAITING,
    PUSH_CHARACTERS,
    Alert,
    AlertOutbox,
    AlertService,
    AlertSources,
    AlertWatch,
    CoolDown,
)
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.settings import AlertSettings
from engram_host.companion.store.bridges.types import PairingRequest
from engram_host.companion.store.processes import Lease
from engram_host.companion.supervisor import Supervisor
from waiting import wait_until_async
from webhook import Webhook

NOW = 1_800_000_000
MINUTE = 60


class Database:
    """What a look sees."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}
        self.heard: dict[str, int] = {}
        self.pushes: list[tuple[int, str, str]] = []
        self.requests: list[PairingRequest] = []
        self.flashes: dict[str, tuple[int, int]] = {}
        self.fails = False

    def get(self, name: str) -> str:
        return self.notes.get(name, "")

    def put(self, name: str, value: str) -> None:
        self.notes[name] = value

    def heard_times(self) -> dict[str, int]:
        if self.fails:
            raise StoreUnavailable("it is gone.")
        return dict(self.heard)

    def flash_uses(self) -> dict[str, tuple[int, int]]:
        return dict(self.flashes)

    def pushes_after(self, number: int, limit: int) -> list[tuple[int, str, str]]:
        return [each for each in self.pushes if each[0] > number][:limit]

    def newest_conversation(self) -> int:
        return max((number for number, _, _ in self.pushes), default=0)

    def pairing_requests(self, now: int) -> list[PairingRequest]:
        return [each for each in self.requests if now - each.at < 3600]


def watch(database: Database, started: int = NOW - 3600, **settings) -> AlertWatch:
    return AlertWatch(sources_of(database), AlertSettings(**settings), started)


def sources_of(database: Database) -> AlertSources:
    return AlertSources(*cast(Any, [database] * 5))


def service_of(database: Database, secrets: SecretStore, supervisor: Supervisor) -> AlertService:
    return AlertService(
        sources=sources_of(database),
        settings=AlertSettings(),
        secrets=secrets,
        supervisor=supervisor,
        lease=Lease("alerts"),
    )


def tell(looks: AlertWatch, now: int) -> list[Alert]:
    """What a look finds, once all of it was sent."""
    found = looks.look(now)
    looks.keep()
    return found


def titles(alerts: list[Alert]) -> list[str]:
    return [alert.title for alert in alerts]


# --- what is new


def test_a_board_that_goes_away_is_told_once_and_when_it_is_back():
    database = Database()
    database.heard = {"kitchen": NOW, "garden": NOW + 10**6}
    looks = watch(database)
    assert tell(looks, NOW + 14 * MINUTE) == []
    assert titles(tell(looks, NOW + 15 * MINUTE)) == ["kitchen is away"]
    assert tell(looks, NOW + 16 * MINUTE) == []
    database.heard["kitchen"] = NOW + 17 * MINUTE
    assert titles(tell(looks, NOW + 17 * MINUTE)) == ["kitchen is back"]
    assert tell(looks, NOW + 18 * MINUTE) == []


def test_a_restart_of_the_companion_tells_nothing_again_and_forgets_no_board():
    database = Database()
    database.heard = {"kitchen": NOW}
    assert tell(watch(database), NOW) == []
    assert titles(tell(watch(database), NOW + 20 * MINUTE)) == ["kitchen is away"]
    assert tell(watch(database), NOW + 21 * MINUTE) == []
    database.heard["kitchen"] = NOW + 22 * MINUTE
    assert titles(tell(watch(database), NOW + 22 * MINUTE)) == ["kitchen is back"]


def test_a_flash_that_is_nearly_full_is_told_once_and_when_it_has_room_again():
    database = Database()
    database.flashes = {"kitchen": (89, 100), "garden": (10, 100)}
    looks = watch(database)
    assert tell(looks, NOW) == []
    database.flashes["kitchen"] = (90, 100)
    (alert,) = tell(looks, NOW + MINUTE)
    assert alert.title == "The flash of kitchen is nearly full" and "Its flash is 90 % full: forget" in alert.text
    assert tell(looks, NOW + 2 * MINUTE) == []
    database.flashes["kitchen"] = (80, 100)
    assert titles(tell(looks, NOW + 3 * MINUTE)) == ["The flash of kitchen has room again"]
    assert tell(looks, NOW + 4 * MINUTE) == []


def test_a_flash_that_wavers_at_the_bound_is_no_news():
    database = Database()
    looks = watch(database)
    database.flashes = {"kitchen": (90, 100)}
    assert len(tell(looks, NOW)) == 1
    for used in (89, 90, 88, 91):
        database.flashes["kitchen"] = (used, 100)
        assert tell(looks, NOW) == []


def test_each_code_is_told_once_with_the_command_that_lets_in():
    database = Database()
    looks = watch(database)
    tell(looks, NOW)
    database.requests = [PairingRequest("ABCDEFGH", "matrix:@ann:example.org", "Ann", NOW)]
    (alert,) = tell(looks, NOW)
    assert alert.title == "A new request on matrix"
    assert alert.text.startswith("Ann (matrix:@ann:example.org) wants to talk. `engram people approve ABCDEFGH`")
    assert tell(looks, NOW + 1) == [] and tell(watch(database), NOW + 2) == []


def test_what_a_board_says_by_itself_is_told_once_and_not_what_it_said_before():
    database = Database()
    database.pushes = [(3, "kitchen", "old")]
    looks = watch(database)
    assert tell(looks, NOW) == []
    database.pushes.append((7, "kitchen", "take the cake out " + "x" * PUSH_CHARACTERS))
    (alert,) = tell(looks, NOW)
    assert alert.title == "kitchen says" and alert.text.startswith("take the cake out")
    assert len(alert.text) == PUSH_CHARACTERS and tell(looks, NOW) == []


# --- on the way


class Recorder:
    """An address."""

    def __init__(self, name: str = "somewhere"):
        self.name = name
        self.is_up = True
        self.tried = 0
        self.sent: list[str] = []

    async def send(self, title: str, text: str) -> bool:
        self.tried += 1
        if self.is_up:
            self.sent.append(title)
        return self.is_up


def alert(number: int = 1, subject: str = "kitchen") -> Alert:
    return Alert(f"key {number}", subject, f"number {number}", "text")


def test_the_same_alert_is_sent_once_within_the_cool_down():
    times = iter((0.0, 1.0, 599.0, 600.0))
    somewhere = Recorder()
    outbox = AlertOutbox([somewhere], CoolDown(600, 10, lambda: next(times)), 10)
    for _ in range(4):
        outbox.add(alert())
    asyncio.run(outbox.send())
    assert somewhere.sent == ["number 1"] * 2


def test_of_one_subject_a_few_are_sent_and_then_one_says_that_more_are_left_out():
    somewhere = Recorder()
    outbox = AlertOutbox([somewhere], CoolDown(600, 3), 3)
    for number in range(10):
        outbox.add(alert(number))
    outbox.add(alert(99, "garden"))
    asyncio.run(outbox.send())
    more = "kitchen: more alerts are left out"
    assert somewhere.sent == ["number 0", "number 1", "number 2", more, "number 99"]


def test_an_address_that_fails_delays_no_other_and_gets_all_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(service_module, "FIRST_PAUSE", 0.01)
    good, bad = Recorder("good"), Recorder("bad")
    bad.is_up = False
    outbox = AlertOutbox([bad, good], CoolDown(600, 10), 10)

    async def script() -> None:
        for number in range(3):
            outbox.add(alert(number))
            await outbox.send()
        assert good.sent == ["number 0", "number 1", "number 2"]
        assert outbox.problems == ["alerts do not reach bad: look at its address (`engram alert test`). Retrying."]
        bad.is_up = True

        await wait_until_async("the end of its pause", lambda: not outbox.seconds_left)
        await outbox.send()

    asyncio.run(script())
    assert bad.sent == good.sent and outbox.problems == []
    assert len([each for each in caplog.records if "do not reach" in each.message]) == 1


def test_what_waits_is_bounded_and_the_newest_stays():
    bad = Recorder()
    bad.is_up = False
    outbox = AlertOutbox([bad], CoolDown(600, 10**6), 10**6)
    for number in range(MOST_WAITING + 5):
        outbox.add(alert(number))
    waiting = outbox._queues[0].waiting
    assert len(waiting) == MOST_WAITING and waiting[-1][1].title == f"number {MOST_WAITING + 4}"


# --- with apprise


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with contextlib.closing(Webhook()) as made:
        yield made


def test_an_address_takes_an_alert_and_says_whether_it_did(webhook: Webhook):
    (address,) = read_addresses(webhook.url)
    assert asyncio.run(address.send("kitchen is away", "since noon")) is True
    assert [(each["title"], each["message"]) for each in webhook.taken] == [("kitchen is away", "since noon")]
    webhook.status = 500
    assert asyncio.run(address.send("kitchen is back", "now")) is False
    assert address.name == "alert address 1 (JSON)"


def test_what_is_no_address_is_refused_without_being_shown():
    with pytest.raises(SettingError, match="number 2 is no address") as caught:
        read_addresses("json://localhost nonsense://hunter2")
    assert "hunter2" not in str(caught.value)


def test_a_companion_sends_what_happens_to_a_board(tmp_path: Path, webhook: Webhook, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service_module, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(service_module, "LOOK_SECONDS", 0.02)
    database = Database()
    secrets = SecretStore(tmp_path, {})
    secrets.keep(URLS, webhook.url)

    async def script() -> None:
        supervisor = Supervisor()
        service = service_of(database, secrets, supervisor)
        service.start()
        await wait_until_async("the first look", lambda: "alerts" in database.notes)
        webhook.status = 500
        database.pushes.append((1, "kitchen", "the cake"))
        await wait_until_async("a failure", lambda: service.problems())
        database.fails = True
        webhook.status = 200
        await wait_until_async("the alert", lambda: webhook.taken)
        await wait_until_async("no problem", lambda: not service.problems())
        await service.stop()

    asyncio.run(script())
    assert [each["message"] for each in webhook.taken] == ["the cake"]


class Served:
    """An alert service with addresses that are named by their secret, and lives one after the other."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.addresses: dict[str, Recorder] = {}
        self.database = Database()
        self.secrets = SecretStore(folder, {})
        monkeypatch.setattr(service_module, "FIRST_PAUSE", 0.01)
        monkeypatch.setattr(service_module, "LOOK_SECONDS", 0.01)
        monkeypatch.setattr(service_module, "read_addresses", lambda urls: [self.address(url) for url in urls.split()])

    def address(self, name: str) -> Recorder:
        return self.addresses.setdefault(name, Recorder(name))

    async def start(self, urls: str) -> AlertService:
        self.secrets.keep(URLS, urls)
        service = service_of(self.database, self.secrets, Supervisor())
        service.start()
        await wait_until_async("the first look", lambda: "alerts" in self.database.notes)
        return service

    async def fail_to_send(self, service: AlertService) -> None:
        """Let there be an alert that no address takes."""
        for address in self.addresses.values():
            address.is_up = False
        self.database.pushes.append((1, "kitchen", "the cake"))
        await wait_until_async("a failure", service.problems)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    return Served(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("urls", "settings", "takes"),
    [
        ("one", AlertSettings(), "one"),
        ("one", AlertSettings(away_minutes=99), "one"),
        ("one two", AlertSettings(), "one"),
        ("two", AlertSettings(), "two"),
    ],
    ids=["nothing", "settings", "one more address", "another address"],
)
def test_what_waits_is_sent_after_the_settings_are_read_again(
    served: Served, urls: str, settings: AlertSettings, takes: str
):
    async def script() -> None:
        service = await served.start("one")
        await served.fail_to_send(service)
        served.secrets.keep(URLS, urls)
        await service.reload(settings)
        served.address(takes).is_up = True
        await wait_until_async("the alert", lambda: served.address(takes).sent)
        served.database.pushes.append((2, "garden", "rain"))
        await wait_until_async("the next one", lambda: len(served.address(takes).sent) > 1)
        await service.stop()

    asyncio.run(script())
    assert served.address(takes).sent == ["kitchen says", "garden says"]


def test_an_address_that_is_down_for_good_lets_no_other_be_told_twice(served: Served):
    async def script() -> None:
        service = await served.start("one two")
        await served.fail_to_send(service)
        served.address("two").is_up = True
        await wait_until_async("it is noted", lambda: json.loads(served.database.notes["alerts"])["push"] == 1)
        await service.stop()
        service = await served.start("one two")
        served.database.pushes.append((2, "garden", "rain"))
        await wait_until_async("the next one", lambda: len(served.address("two").sent) > 1)
        await service.stop()

    asyncio.run(script())
    assert served.address("two").sent == ["kitchen says", "garden says"]


def test_addresses_that_cannot_be_read_are_a_problem_and_nothing_worse(tmp_path: Path):
    secrets = SecretStore(tmp_path, {"ENGRAM_ALERTS_URLS": "nonsense://hunter2"})

    async def script() -> None:
        service = service_of(Database(), secrets, Supervisor())
        service.start()
        await wait_until_async("the problem", lambda: service.problems())
        (problem,) = service.problems()
        assert problem.startswith("no alert is sent: alerts.urls: number 1") and "hunter2" not in problem
        await service.stop()

    asyncio.run(script())
