"""Alerts: each thing is told once, whatever restarts; an address that fails delays no other; nothing piles up."""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from engram_host.companion import supervisor
from engram_host.companion.alerts import outbox as outbox_module
from engram_host.companion.alerts import service as service_module
from engram_host.companion.alerts.apprise_address import URLS, read_addresses
from engram_host.companion.alerts.outbox import MOST_WAITING, Alert, AlertOutbox, CoolDown
from engram_host.companion.alerts.service import AlertService
from engram_host.companion.alerts.watch import PUSH_CHARACTERS, AlertSources, AlertWatch
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_types import PairingRequest
from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.processes.leases import Lease
from engram_host.companion.settings import AlertSettings
from engram_host.companion.store import CompanionStore
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import Said
from one_case import in_one_case
from plain_board import PlainBoard
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
        if self.fails:
            raise StoreUnavailable("it is gone.")
        return self.notes.get(name, "")

    def put(self, name: str, value: str) -> None:
        self.notes[name] = value

    def heard_times(self) -> dict[str, int]:
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


def test_no_board_counts_as_away_before_the_companion_could_hear_it():
    database = Database()
    database.heard = {"kitchen": NOW}
    tell(watch(database), NOW)
    later = NOW + 7200
    looks = watch(database, started=later)
    assert tell(looks, later + 14 * MINUTE) == []
    assert titles(tell(looks, later + 15 * MINUTE)) == ["kitchen is away"]


def test_boards_that_were_away_before_there_were_alerts_are_not_told():
    database = Database()
    database.heard = {"attic": NOW - 10**7}
    assert tell(watch(database), NOW) == []


def test_a_board_that_was_erased_is_forgotten():
    database = Database()
    database.heard = {"kitchen": NOW - 10**6}
    looks = watch(database)
    tell(looks, NOW)
    database.heard = {}
    assert tell(looks, NOW) == [] and json.loads(database.notes["alerts"])["away"] == {}


def test_without_minutes_no_board_is_away():
    database = Database()
    database.heard = {"kitchen": NOW}
    looks = watch(database, away_minutes=0)
    assert tell(looks, NOW) == [] and tell(looks, NOW + 10**6) == []


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


def test_a_restart_of_the_companion_does_not_tell_of_a_full_flash_again():
    database = Database()
    database.flashes = {"kitchen": (95, 100)}
    assert len(tell(watch(database), NOW)) == 1
    assert tell(watch(database), NOW + MINUTE) == []


def test_what_was_told_before_there_were_alerts_on_flashes_is_read():
    database = Database()
    database.notes["alerts"] = json.dumps({"away": {}, "push": 0, "codes": []})
    database.flashes = {"kitchen": (95, 100)}
    assert titles(tell(watch(database), NOW)) == ["The flash of kitchen is nearly full"]


def test_an_erased_boards_flash_is_forgotten():
    database = Database()
    database.flashes = {"kitchen": (95, 100)}
    looks = watch(database)
    tell(looks, NOW)
    database.flashes = {}
    assert tell(looks, NOW) == [] and json.loads(database.notes["alerts"])["full"] == []


def test_without_a_bound_no_flash_is_full():
    database = Database()
    database.flashes = {"kitchen": (100, 100)}
    assert tell(watch(database, flash_percent=0), NOW) == []


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


@in_one_case("switched_off", ["pairing", "pushes"])
def test_an_event_that_is_switched_off_is_not_told(switched_off: str):
    database = Database()
    looks = watch(database, **{switched_off: False})
    tell(looks, NOW)
    database.requests = [PairingRequest("ABCDEFGH", "irc:ann", "", NOW)]
    database.pushes = [(1, "kitchen", "hi")]
    told = {"pairing": ["kitchen says"], "pushes": ["A new request on irc"]}
    assert titles(tell(looks, NOW)) == told[switched_off]


def test_a_look_reads_the_companions_database(store: CompanionStore):
    board = PlainBoard(store)
    board.logs["journal"].append(1)
    board.sync()
    looks = AlertWatch(
        AlertSources(store.boards, store.conversations, store.people, store.status, store.values),
        AlertSettings(),
        0,
    )
    heard = store.boards.heard_times()["kitchen"]
    assert tell(looks, heard) == []
    store.conversations.add_push(board.sender(), "kitchen", Said("push:1", "owner", "the cake", "phone"), heard)
    assert [(alert.title, alert.text) for alert in tell(looks, heard)] == [("kitchen says", "the cake")]
    assert titles(tell(looks, heard + 901)) == ["kitchen is away"]


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
    monkeypatch.setattr(outbox_module, "FIRST_PAUSE", 0.01)
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


def test_the_pauses_of_an_address_that_fails_grow_up_to_a_bound(monkeypatch: pytest.MonkeyPatch):
    bad = Recorder()
    bad.is_up = False
    outbox = AlertOutbox([bad], CoolDown(600, 10), 10)
    outbox.add(alert())
    pauses = []
    monkeypatch.setattr(supervisor.random, "uniform", lambda low, high: high)
    monkeypatch.setattr(supervisor.random, "uniform", lambda low, high: high)
    for _ in range(10):
        asyncio.run(outbox.send())
        pauses.append(round(outbox.seconds_left))
        outbox._queues[0]._until = 0
    assert pauses == [15, 30, 60, 120, 240, 480, 900, 900, 900, 900]


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
    monkeypatch.setattr(outbox_module, "FIRST_PAUSE", 0.02)
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
        monkeypatch.setattr(outbox_module, "FIRST_PAUSE", 0.01)
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


def test_two_changes_of_the_settings_at_once_are_done_one_after_the_other(served: Served):
    async def script() -> None:
        service = await served.start("one")
        await asyncio.gather(*(service.reload(AlertSettings(away_minutes=minutes)) for minutes in (98, 99)))
        served.database.pushes.append((2, "garden", "rain"))
        await wait_until_async("the alert", lambda: served.address("one").sent)
        assert service._settings.away_minutes == 99
        await service.stop()
        assert asyncio.all_tasks() == {asyncio.current_task()}, "one that nobody knows of goes on"

    asyncio.run(script())


def test_settings_that_are_the_same_begin_nothing_again(served: Served):
    async def script() -> None:
        service = await served.start("one")
        task = service._task
        await service.reload(AlertSettings())
        assert service._task is task
        await service.reload(AlertSettings(away_minutes=99))
        assert service._task is not task
        await service.stop()

    asyncio.run(script())


def test_what_no_address_took_until_a_stop_is_told_after_the_next_start(served: Served):
    async def script() -> None:
        service = await served.start("one")
        await served.fail_to_send(service)
        await service.stop()
        served.address("one").is_up = True
        for _ in range(2):
            service = await served.start("one")
            await wait_until_async("it is noted", lambda: json.loads(served.database.notes["alerts"])["push"] == 1)
            await service.stop()

    asyncio.run(script())
    assert served.address("one").sent == ["kitchen says"]


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


def test_without_an_address_there_is_no_task(tmp_path: Path):
    async def script() -> None:
        supervisor = Supervisor()
        service = service_of(Database(), SecretStore(tmp_path, {}), supervisor)
        service.start()
        assert supervisor.statuses() == []
        await service.stop()

    asyncio.run(script())


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
