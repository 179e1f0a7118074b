"""The gateway's limits in both databases: counted once whoever counts, by several processes at the same time, too."""

import threading
from collections.abc import Callable

from engram_host.companion.store import CompanionStore
from engram_host.companion.types import GatewayUse

NONE = {"device": GatewayUse(0, 0), "all": GatewayUse(0, 0)}


def test_without_limits_all_calls_are_taken_and_counted(store: CompanionStore):
    assert [store.gateway.begin_call(7, "kitchen", 10, NONE) for _ in range(3)] == ["", "", ""]
    store.gateway.end_call(7, "kitchen", -4)
    assert store.gateway.gateway_used(7) == {"": GatewayUse(3, 26), "kitchen": GatewayUse(3, 26)}


def test_each_limit_is_reported_by_its_name(store: CompanionStore):
    cases = (
        ({"device": GatewayUse(1, 0)}, "device calls"),
        ({"device": GatewayUse(0, 5)}, "device tokens"),
        ({"all": GatewayUse(1, 0)}, "all calls"),
        ({"all": GatewayUse(0, 5)}, "all tokens"),
    )
    for day, (limits, name) in enumerate(cases):
        assert store.gateway.begin_call(day, "kitchen", 5, limits) == ""
        assert store.gateway.begin_call(day, "kitchen", 5, limits) == name
        assert store.gateway.gateway_used(day)["kitchen"] == GatewayUse(1, 5)


def test_one_device_does_not_use_up_anothers_limit_and_a_new_day_is_new(store: CompanionStore):
    limits = {"device": GatewayUse(1, 0)}
    assert store.gateway.begin_call(7, "kitchen", 0, limits) == store.gateway.begin_call(7, "garden", 0, limits) == ""
    assert store.gateway.begin_call(7, "kitchen", 0, limits) == "device calls"
    assert store.gateway.begin_call(8, "kitchen", 0, limits) == ""


def test_workers_together_take_no_more_than_the_limit(open_store: Callable[[], CompanionStore]):
    limits = {"device": GatewayUse(15, 0), "all": GatewayUse(20, 0)}
    taken: list[str] = []

    def work(store: CompanionStore, device: str) -> None:
        for _ in range(15):
            if not store.gateway.begin_call(7, device, 3, limits):
                taken.append(device)
                store.gateway.end_call(7, device, 2)

    threads = [threading.Thread(target=work, args=(open_store(), device)) for device in ("kitchen", "garden") * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used = open_store().gateway.gateway_used(7)
    assert len(taken) == 20 and used[""] == GatewayUse(20, 100)
    assert {device: use.calls for device, use in used.items() if device} == {
        device: taken.count(device) for device in ("kitchen", "garden")
    }
