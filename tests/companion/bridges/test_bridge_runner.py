"""The runner of bridges: whatever a network's library does, its bridge is started again or says why not, and no other one
notices.
"""

import asyncio
import functools
import inspect
import itertools
import logging
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from engram_host.companion import supervisor
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_settings import BridgeSettings
from engram_host.companion.bridges import runner as runners
from engram_host.companion.bridges.errors import BridgeUnavailable, NetworkAway, SignInRefused
from engram_host.companion.bridges.network import Chat, Incoming
from engram_host.companion.bridges.runner import BridgeRunner, BridgeStatus
from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.store.processes import Lease
from engram_host.companion.supervisor import Supervisor
from extent import with_more
from failing_network import (
    PASSWORD,
    FakeServer,
    RecordingEngine,
    Stubborn,
    cancel_itself,
    end_at_once,
    fail,
    fake_network,
    serve,
    serve_then,
)
from waiting import wait_until_async

FAKE = BridgeSettings("fake", "fake", fields={"server": "localhost"})


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with fake_network() as made:
        yield made


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(runners, "LONGEST_PAUSE", 0.04)
    monkeypatch.setattr(runners, "STOP_SECONDS", 0.05)


class Bench:
    """A runner with an engine that records."""

    def __init__(self, home: Path):
        self.engine = RecordingEngine()
        self.supervisor = Supervisor()
        self.counted: list[str] = []
        self.secrets = SecretStore(home, {"ENGRAM_BRIDGES_OTHER_PASSWORD": "x"})
        self.secrets.keep("bridges.fake.password", PASSWORD)
        self.running: list[BridgeRunner] = []
        self.complaints: list[dict[str, Any]] = []
        """Complaints of the loop."""

    def start(self, *bridges: BridgeSettings, lease_of: Callable[[str], Lease] | None = None) -> BridgeRunner:
        """Start a runner, which is stopped at the end."""
        runner = self.runner(*bridges, lease_of=lease_of)
        runner.start()
        self.running.append(runner)
        return runner

    def runner(self, *bridges: BridgeSettings, lease_of: Callable[[str], Lease] | None = None) -> BridgeRunner:
        leases: dict[str, Lease] = {}
        lease_of = lease_of or (lambda name: leases.setdefault(name, Lease(name)))
        parts = self.secrets, self.engine, self.supervisor, lease_of, self.counted.append
        return BridgeRunner(bridges or (FAKE,), *parts)


def on_bench(script: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Play a script on a bench: its loop complains of nothing, and no task is left."""
    others = [each for name, each in inspect.signature(script).parameters.items() if name not in ("bench", "tmp_path")]

    @functools.wraps(script)
    def run(tmp_path: Path, **values: Any) -> None:
        bench = Bench(tmp_path)
        if "tmp_path" in inspect.signature(script).parameters:
            values["tmp_path"] = tmp_path

        async def whole() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _loop, context: bench.complaints.append(context))
            async with asyncio.timeout(30):
                await script(bench, **values)
                for runner in bench.running:
                    await runner.stop()
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(whole())
        assert bench.complaints == []

    folder = inspect.Parameter("tmp_path", inspect.Parameter.KEYWORD_ONLY)
    run.__signature__ = inspect.Signature([*others, folder])  # pyright: ignore[reportAttributeAccessIssue]
    return run


async def until(runner: BridgeRunner, state: str, name: str = "fake") -> BridgeStatus:
    def found() -> BridgeStatus:
        return next(each for each in runner.statuses() if each.name == name)

    await wait_until_async(f"{name} is {state}", lambda: found().state == state)
    return found()


@on_bench
async def test_a_bridge_runs_is_counted_and_ends_without_a_rest(bench: Bench, server: FakeServer):
    runner = bench.start()
    status = await until(runner, "connected")
    assert (status.account, status.starts, status.received, status.sent) == ("engram@fake", 1, 0, 0)
    (network,) = server.connections
    assert network.values == {"server": "localhost", "nickname": "engram", "password": PASSWORD, "token": ""}
    assert network.host
    await network.host.receive(Incoming("1", Chat("c"), "ann", text="hi"))
    (status,) = runner.statuses()
    assert status.received == 1 and time.time() - status.heard < 5
    assert bench.counted == ["in"] and runner.problems() == []
    await runner.stop()
    assert server.running == 0 and bench.engine.attached == {}


OUTAGES = {
    "away": fail(NetworkAway("the server does not answer.")),
    "away later": serve_then(NetworkAway("the server has closed the connection.")),
    "an error of its library": fail(RuntimeError("the library's own")),
    "an exception group": fail(BaseExceptionGroup("", [RuntimeError("inside")])),
    "a key error": fail(KeyError("x")),
    "a timeout": fail(TimeoutError()),
    "the end of the program": fail(SystemExit(1)),
    "the end without an error": end_at_once,
    "a cancellation of its own": cancel_itself,
}


@pytest.mark.parametrize("outage", with_more(["away", "a cancellation of its own"], OUTAGES))
@on_bench
async def test_after_an_outage_of_any_kind_it_is_started_again(bench: Bench, server: FakeServer, outage: str):
    server.behaviours = [OUTAGES[outage], OUTAGES[outage], serve]
    runner = bench.start()
    await wait_until_async("the third connection", lambda: len(server.connections) == 3)
    status = await until(runner, "connected")
    assert status.starts == 3 and bench.counted == ["failure"] * 2


@on_bench
async def test_while_it_is_away_it_says_why_and_since_when(
    bench: Bench, server: FakeServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(runners.time, "time", itertools.count(1_795_000_000).__next__)
    server.behaviours = [fail(NetworkAway("the server does not answer."))]
    runner = bench.start()
    first = await until(runner, "away")
    await wait_until_async("more connections", lambda: len(server.connections) > 4)
    (status,) = runner.statuses()
    assert status.since == first.since
    assert runner.problems() == ["the bridge fake is away, and tried again: the server does not answer."]


@on_bench
async def test_the_pauses_grow_up_to_a_bound_and_begin_again_after_a_while_of_success(
    bench: Bench, server: FakeServer, monkeypatch: pytest.MonkeyPatch
):
    pauses: list[float] = []
    monkeypatch.setattr(runners, "FIRST_PAUSE", 1.0)
    monkeypatch.setattr(runners, "LONGEST_PAUSE", 60.0)
    monkeypatch.setattr(supervisor.random, "uniform", lambda low, high: high)

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(runners, "_sleep", sleep)
    monkeypatch.setattr(runners, "STEADY_SECONDS", 0.0)
    server.behaviours = [fail(NetworkAway("x."))] * 8 + [serve_then(NetworkAway("x.")), fail(NetworkAway("x.")), serve]
    bridge = runners.RunningBridge(FAKE, lambda: {"password": PASSWORD}, bench.engine, bench.counted.append)
    task = asyncio.create_task(bridge.run())
    await wait_until_async("all were tried", lambda: len(server.connections) == 11 and server.running == 1)
    task.cancel()
    await asyncio.wait([task])
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 1, 2]


@pytest.mark.parametrize(
    "error",
    [SignInRefused("the server does not know the account."), BridgeUnavailable("the library is not installed.")],
)
@on_bench
async def test_what_a_person_has_to_mend_stops_it_until_it_is_reloaded(
    bench: Bench, server: FakeServer, error: Exception
):
    server.behaviours = [fail(error), serve]
    runner = bench.start()
    status = await until(runner, "stopped")
    assert status.reason == str(error)
    assert runner.problems() == [f"the bridge fake does not run: {error} `engram bridge reload` starts it again."]
    assert len(server.connections) == 1
    await runner.reload((FAKE,))
    await until(runner, "connected")


@on_bench
async def test_a_missing_or_unreadable_secret_stops_only_its_bridge(bench: Bench, server: FakeServer):
    other = BridgeSettings("second", "fake", fields={"server": "localhost"})
    runner = bench.start(FAKE, other)
    await until(runner, "connected")
    status = await until(runner, "stopped", "second")
    assert "bridges.second.password: is missing" in status.reason


@on_bench
async def test_a_network_whose_library_is_not_installed_stops_with_the_command_that_installs_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "slixmpp", None)
    for loaded in [name for name in sys.modules if name.startswith("engram_host.companion.bridges.xmpp")]:
        monkeypatch.delitem(sys.modules, loaded)
    bench.secrets.keep("bridges.xmpp.password", PASSWORD)
    runner = bench.start(BridgeSettings("xmpp", "xmpp", fields={"address": "a@b"}))
    status = await until(runner, "stopped", "xmpp")
    assert "is not installed: pip install" in status.reason


@on_bench
async def test_a_connection_that_does_not_end_is_left_and_takes_nothing_more(
    bench: Bench, server: FakeServer, caplog: pytest.LogCaptureFixture
):
    stubborn = Stubborn()
    server.behaviours = [stubborn]
    runner = bench.start()
    await until(runner, "connected")
    began = time.monotonic()
    await runner.stop()
    assert time.monotonic() - began < 5 and bench.engine.attached == {}
    host = server.connections[0].host
    assert host
    with pytest.raises(StoreUnavailable):
        await host.receive(Incoming("1", Chat("c"), "ann"))
    assert bench.engine.received == []
    stubborn.may_end.set()
    await wait_until_async("its end", lambda: server.running == 0)
    assert "does not end" in caplog.text


@on_bench
async def test_the_same_failure_is_logged_once_and_never_with_a_secret(
    bench: Bench, server: FakeServer, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    server.behaviours = [fail(RuntimeError(f"https://fake/bot{PASSWORD}/getMe failed"))]
    runner = bench.start()
    await wait_until_async("several failures", lambda: len(server.connections) > 5)
    (status,) = runner.statuses()
    assert "bot***/getMe" in status.reason and PASSWORD not in status.reason
    told = [record for record in caplog.records if record.name == "engram.bridges"]
    assert len(told) == 1 and PASSWORD not in caplog.text


# --- a change of the settings


@on_bench
async def test_a_reload_starts_stops_and_changes_what_is_to_be_and_leaves_the_rest(bench: Bench, server: FakeServer):
    stays, goes = FAKE, BridgeSettings("goes", "fake", fields={"server": "b"})
    changes = BridgeSettings("changes", "fake", fields={"server": "c"})
    comes = BridgeSettings("comes", "fake", fields={"server": "d"})
    for name in ("goes", "changes", "comes"):
        bench.secrets.keep(f"bridges.{name}.password", PASSWORD)
    runner = bench.start(stays, goes, changes)
    for name in ("fake", "goes", "changes"):
        await until(runner, "connected", name)
    changed = BridgeSettings("changes", "fake", fields={"server": "e"})
    await runner.reload((stays, changed, comes))
    for name in ("fake", "changes", "comes"):
        await until(runner, "connected", name)
    assert sorted(network.values["server"] for network in server.connections) == ["b", "c", "d", "e", "localhost"]
    assert server.running == 3 and [each.name for each in runner.statuses()] == ["changes", "comes", "fake"]
    tasks = {task.name for task in bench.supervisor.statuses()}
    assert tasks == {"bridges", "bridges changes", "bridges comes", "bridges fake"}


@on_bench
async def test_what_is_kept_of_a_bridge_goes_with_it(bench: Bench, server: FakeServer):
    other = BridgeSettings("other", "fake", fields={"server": "b"})
    moved = BridgeSettings("fake", "fake", fields={"server": "c"})
    runner = bench.start(FAKE, other)
    for name in ("fake", "other"):
        await until(runner, "connected", name)
    bench.engine.refuses = StoreUnavailable("the disk is full.")
    await runner.reload((moved,))
    await until(runner, "connected")
    assert bench.engine.forgotten == []
    bench.engine.refuses = None
    await runner.reload((moved,))
    await runner.reload((moved,))
    assert bench.engine.forgotten == ["other"]


@on_bench
async def test_a_new_secret_is_a_change(bench: Bench, server: FakeServer):
    runner = bench.start()
    await until(runner, "connected")
    bench.secrets.keep("bridges.fake.password", "another one")
    await runner.reload((FAKE,))
    await wait_until_async("a new connection", lambda: len(server.connections) == 2)
    assert server.connections[1].values["password"] == "another one"


@on_bench
async def test_a_reload_with_a_wrong_setting_changes_nothing(bench: Bench, server: FakeServer):
    runner = bench.start()
    await until(runner, "connected")
    with pytest.raises(SettingError):
        await runner.reload((BridgeSettings("pigeon", "pigeon"),))
    assert (await until(runner, "connected")).starts == 1


@on_bench
async def test_a_bridge_whose_lease_is_lost_ends_and_comes_back_with_the_lease(bench: Bench, server: FakeServer):
    lease = Lease("bridge fake")
    runner = bench.start(lease_of=lambda name: lease)
    await until(runner, "connected")
    lease.set_held(False)
    await wait_until_async("the connection ends", lambda: not server.running)
    assert (await until(runner, "elsewhere")).problem == ""
    lease.set_held(True)
    await until(runner, "connected")
