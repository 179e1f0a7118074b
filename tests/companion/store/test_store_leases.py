"""Leases in the database: one holder at a time, by the database's clock, and a fence that grows with each."""

import threading
import time
from collections.abc import Callable

import pytest

from engram_host.companion.errors import LeaseLost
from engram_host.companion.store import CompanionStore
from waiting import wait_until


def test_a_lease_has_one_holder_until_its_time_is_over(store: CompanionStore):
    assert store.hold_leases("first", ["alerts"], 60) == {"alerts": 1}
    assert store.hold_leases("second", ["alerts"], 60) == {}
    assert store.hold_leases("first", ["alerts"], 0.2) == {"alerts": 1}
    wait_until("the lease is free", lambda: store.hold_leases("second", ["alerts"], 60))
    assert store.hold_leases("first", ["alerts"], 60) == {}


def test_the_fence_grows_with_each_new_holder_and_not_with_a_renewal(store: CompanionStore):
    assert store.hold_leases("first", ["alerts"], 60) == store.hold_leases("first", ["alerts"], 60) == {"alerts": 1}
    store.return_leases("first", ["alerts"])
    assert store.hold_leases("second", ["alerts"], 60) == {"alerts": 2}
    store.return_leases("second")
    assert store.hold_leases("first", ["alerts"], 60) == {"alerts": 3}


def test_a_holder_whose_time_was_over_goes_on_if_nobody_took_the_lease(store: CompanionStore):
    store.hold_leases("first", ["alerts"], 0)
    assert store.hold_leases("first", ["alerts"], 60) == {"alerts": 1}


def test_a_lease_of_a_worker_that_has_ended_is_taken_at_once(store: CompanionStore):
    store.hold_leases("first", ["alerts"], 60)
    assert store.hold_leases("second", ["alerts"], 60, lambda holder: holder == "first") == {"alerts": 2}


def test_nobody_returns_a_lease_of_another(store: CompanionStore):
    store.hold_leases("first", ["alerts"], 60)
    store.return_leases("second", ["alerts"])
    (lease,) = store.leases()
    assert (lease.holder, lease.left > 50_000) == ("first", True)


def test_what_is_noted_with_an_older_fence_is_refused(store: CompanionStore):
    store.hold_leases("first", ["door"], 0)
    store.put_under_lease("door", 1, "door.pushes", "5")
    store.hold_leases("second", ["door"], 60)
    with pytest.raises(LeaseLost, match="another worker has got the lease door"):
        store.put_under_lease("door", 1, "door.pushes", "4")
    assert store.get("door.pushes") == "5"


def test_the_time_is_that_of_the_database(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    store.hold_leases("first", ["alerts"], 60)
    monkeypatch.setattr(time, "time", lambda: 4e9)
    assert store.hold_leases("second", ["alerts"], 60) == {}


def test_of_many_that_ask_at_the_same_moment_one_gets_each_lease(open_store: Callable[[], CompanionStore]):
    names = [f"bridge {number}" for number in range(5)]
    stores = [open_store() for _ in range(4)]
    held: dict[str, dict[str, int]] = {}
    start = threading.Barrier(len(stores))

    def ask(holder: str, store: CompanionStore, own: list[str]) -> None:
        start.wait()
        held[holder] = store.hold_leases(holder, own, 60)

    orders = (names, names[::-1], names[2:] + names[:2], names)
    threads = [
        threading.Thread(target=ask, args=(f"worker{number}", store, own))
        for number, (store, own) in enumerate(zip(stores, orders, strict=True))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(name for own in held.values() for name in own) == names
