"""Who may talk through bridges: policies, codes, groups, one person on several networks, and what bounds them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from engram.channels.people import TOO_FAST
from engram.errors import ArgumentError, NotFound
from engram_host.companion.bridge_settings import PeopleSettings, read_bridges
from engram_host.companion.bridges.network import Chat, Incoming
from engram_host.companion.conversations.people import (
    LATE_MINUTES,
    Admission,
    AdmissionRules,
    PeopleService,
    admission_rules,
    room_of,
)
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.bridges import people as rows
from engram_host.companion.store.bridges.types import PairingRequest
from one_case import in_one_case

NOW = 1_795_000_000
HELLO = Incoming("1", Chat("12"), "5", "Ann", "hello")
GROUP = Incoming("1", Chat("-7", is_group=True), "5", "Ann", "hello")


class House:
    """People on a store, with a clock of its own; calls are awaited at once."""

    def __init__(self, store: CompanionStore, rules: AdmissionRules | None = None):
        self.store = store
        self.at = float(NOW)
        self.requests: list[PairingRequest] = []
        self.people = PeopleService(store.people, rules, self.requests.append, lambda: self.at)

    def do(self, name: str, *values: Any) -> Any:
        return asyncio.run(getattr(self.people, name)(*values))

    def admit(self, message: Incoming = HELLO, network: str = "net", bridge: str = "home") -> Admission:
        """Return the admission of a message; its reply is the code that its chat is owed, if one was made."""
        known = len(self.requests)
        admission = self.do("admit", bridge, network, message)
        if len(self.requests) == known:
            return admission
        (text,) = [
            each.text for each in self.store.deliveries.open_deliveries(bridge) if self.requests[-1].code in each.text
        ]
        return replace(admission, reply=text)

    def is_admitted(self, message: Incoming = HELLO) -> bool:
        return self.admit(message).caller is not None


@pytest.fixture
def house(store: CompanionStore) -> House:
    return House(store)


def sender(number: int) -> Incoming:
    return replace(HELLO, sender=str(number), chat=Chat(str(number)))


def principal(admission: Admission) -> str:
    assert admission.caller is not None
    return admission.caller.principal


# --- strangers


def test_a_stranger_is_sent_a_code_which_lets_them_in_once_it_is_approved(house: House):
    admission = house.admit()
    (request,) = house.do("waiting")
    assert admission.caller is None and f"/pair {request.code}" in admission.reply
    assert (request.ref, request.name, house.requests) == ("net:5", "Ann", [request])
    person = house.do("approve", request.code.lower())
    assert (person.principal, person.name, person.ids) == ("net:5", "", ("net:5",))
    assert house.do("waiting") == []
    caller = house.admit().caller
    assert caller is not None and (caller.principal, caller.room, caller.group) == ("net:5", "net 12", False)


def test_a_stranger_gets_one_message_an_hour_and_a_code_ends_after_it(house: House):
    assert house.admit().reply
    assert [house.admit().reply for _ in range(3)] == ["", "", ""]
    (request,) = house.do("waiting")
    house.at += rows.CODE_SECONDS - 1
    assert house.admit().reply == ""
    house.at += 1
    with pytest.raises(NotFound, match="valid for an hour"):
        house.do("approve", request.code)
    assert house.do("waiting") == [] and house.admit().reply


def test_only_some_strangers_of_a_network_have_a_code_and_another_network_has_its_own(
    house: House, store: CompanionStore
):
    told = [bool(house.admit(sender(number)).reply) for number in range(6)]
    assert told == [True] * rows.MOST_WAITING + [False] * 3
    assert house.do("list_people") == [] and not store.conversations.boards_with_messages(), (
        "strangers leave no more than that"
    )
    assert house.admit(network="other").reply


def test_strangers_who_write_at_once_get_no_more_codes_than_there_are(open_store: Callable[[], CompanionStore]):
    stores = [open_store() for _ in range(2)]

    def ask(number: int) -> bool:
        request = PairingRequest(f"CODE{number:04}", f"net:{number}", "", NOW)
        return stores[number % 2].people.add_code(request)

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(ask, range(12))) == rows.MOST_WAITING


def test_a_stranger_who_is_blocked_gets_no_answer_and_no_code(house: House):
    house.admit()
    (request,) = house.do("waiting")
    assert house.do("block", request.code).is_blocked
    house.at += 2 * rows.CODE_SECONDS
    assert house.admit() == Admission(None) and house.do("waiting") == []
    house.do("approve", "net:5")
    assert house.is_admitted()


# --- policies


def test_an_allowlist_answers_no_stranger(store: CompanionStore):
    house = House(store, AdmissionRules("allowlist", allow=frozenset({"net:6"})))
    assert house.admit() == Admission(None) and house.do("waiting") == []
    assert house.is_admitted(sender(6))
    house.do("approve", "net:5", "Ann")
    assert house.is_admitted()


def test_a_bridge_may_have_a_policy_of_its_own(store: CompanionStore):
    house = House(store, AdmissionRules("allowlist", {"home": "pairing", "closed": "off"}))
    assert house.admit().reply and not house.admit(bridge="other").reply
    house.do("approve", "net:5")
    assert house.is_admitted() and not house.admit(bridge="closed").caller


def test_a_bridge_that_is_open_opens_no_other_one_of_its_network(store: CompanionStore):
    bridges = read_bridges({"irc": {"policy": "open", "allow": "*"}, "work": {"network": "irc"}})
    house = House(store, admission_rules(PeopleSettings(), bridges))
    assert house.admit(network="irc", bridge="irc").caller
    admission = house.admit(sender(6), network="irc", bridge="work")
    assert admission.caller is None and "/pair" in admission.reply


# --- groups


def test_a_group_is_closed_until_it_is_listed_and_pairing_opens_none(house: House):
    house.do("approve", "net:5")
    assert house.admit(GROUP) == Admission(None)
    house.do("set_group", "net:-7", "mention")
    assert house.is_admitted(GROUP) and not house.is_admitted(replace(GROUP, is_mentioned=False))
    house.do("set_group", "net:-7", "always")
    assert house.is_admitted(replace(GROUP, is_mentioned=False)) and house.do("list_groups") == {"net:-7": "always"}
    house.do("set_group", "net:-7", "off")
    assert house.admit(GROUP) == Admission(None) and house.do("list_groups") == {}


def test_a_stranger_in_an_open_group_talks_as_themselves_and_is_sent_no_code(house: House):
    house.do("set_group", "net:-7", "mention")
    caller = house.admit(GROUP).caller
    assert caller is not None and (caller.principal, caller.room, caller.group) == ("net:5", "net -7", True)
    assert house.do("waiting") == []


def test_who_is_blocked_is_not_answered_in_groups(house: House):
    house.do("set_group", "net:-7", "always")
    house.do("block", "net:5")
    assert house.admit(GROUP) == Admission(None)


def test_a_group_of_another_network_with_the_same_id_stays_closed(house: House):
    house.do("set_group", "net:-7", "always")
    assert house.admit(GROUP, network="other") == Admission(None)


def test_a_room_fits_the_board_whatever_a_network_calls_its_chats():
    for chat in ("!" + "x" * 80 + ":example.org", "y" * 57, 'a"b', "ä" * 40):
        room = room_of("matrix", chat, "$thread")
        assert len(b"link " + room.encode()) <= 64 and room.startswith("matrix ")
        assert room != room_of("matrix", chat + "z", "$thread")


# --- one person, several networks; the owner


def test_one_person_on_two_networks_is_one_principal(house: House):
    house.do("approve", "net:5", "Ann")
    house.do("approve", "other:5", "Ann2")
    assert house.do("link", "Ann", "Ann2").ids == ("net:5", "other:5")
    assert {principal(house.admit(network=network)) for network in ("net", "other")} == {"Ann"}
    with pytest.raises(NotFound):
        house.do("find", "Ann2")


def test_the_id_of_a_stranger_is_linked_by_their_code(house: House):
    house.do("approve", "net:5", "Ann")
    house.admit(network="other")
    (request,) = house.do("waiting")
    assert house.do("link", "Ann", request.code).ids == ("net:5", "other:5") and house.do("waiting") == []


def test_a_renamed_person_keeps_the_principal(house: House):
    house.do("approve", "net:5", "Ann")
    assert house.do("rename", "Ann", "Anna").principal == "Ann"
    assert house.do("find", "Anna") == house.do("find", "Ann") == house.do("find", "net:5")


def test_the_owner_speaks_as_on_the_console_and_there_is_one(house: House):
    house.do("approve", "net:5", "Ann")
    house.do("approve", "net:6", "Bob")
    assert not house.do("has_owner")
    assert house.do("make_owner", "Ann").is_owner and house.do("has_owner")
    assert principal(house.admit()) == "owner"
    with pytest.raises(ArgumentError, match="there is one: link them on the companion's page"):
        house.do("make_owner", "Bob")
    with pytest.raises(ArgumentError, match="name the owner first"):
        house.do("link", "Bob", "owner")
    assert house.do("link", "owner", "Bob").ids == ("net:5", "net:6")


def test_nobody_becomes_the_owner_by_their_name(house: House):
    with pytest.raises(ArgumentError, match="somebody else; link them on the companion's page"):
        house.do("approve", "net:5", "owner")
    house.do("approve", "net:6", "Ann")
    house.do("rename", "Ann", "owner")
    house.do("approve", "net:5", "Bob")
    house.do("make_owner", "Bob")
    assert house.do("find", "owner").ids == ("net:5",), "a principal goes before a name"


def test_who_is_removed_is_a_stranger_again(house: House):
    house.do("approve", "net:5", "Ann")
    house.do("remove", "Ann")
    assert house.admit().reply and house.do("list_people") == []
    with pytest.raises(NotFound, match="engram people list"):
        house.do("find", "Ann")


@in_one_case("ref", ["net:", ":5", "net:a b", "net:" + "5" * 100])
def test_what_is_no_id_is_not_approved(house: House, ref: str):
    with pytest.raises(ArgumentError):
        house.do("approve", ref)


# --- bounds


def test_people_groups_and_ids_have_bounds(house: House, monkeypatch: pytest.MonkeyPatch):
    assert rows.MOST_PEOPLE >= 1000 and rows.MOST_GROUPS >= 256 and rows.MOST_IDS >= 8
    for name in ("MOST_PEOPLE", "MOST_GROUPS", "MOST_IDS"):
        monkeypatch.setattr(rows, name, 2)
    for number in range(2):
        house.do("approve", f"net:{number}")
        house.do("set_group", f"net:{number}", "always")
    with pytest.raises(ArgumentError, match="as many as may be: remove one on the companion's page"):
        house.do("approve", "net:9")
    with pytest.raises(ArgumentError, match="as many as may be"):
        house.do("set_group", "net:9", "always")
    house.do("set_group", "net:1", "mention")
    house.do("link", "net:0", "net:8")
    with pytest.raises(ArgumentError, match="as many ids"):
        house.do("link", "net:0", "net:9")


def test_more_than_the_rate_is_told_once_and_then_passed_over(store: CompanionStore):
    house = House(store, AdmissionRules(rate=2))
    house.do("approve", "net:5")
    assert [bool(house.admit().caller) for _ in range(2)] == [True, True]
    assert [house.admit().reply for _ in range(3)] == [TOO_FAST % 2, "", ""]
    house.at += 60
    assert house.is_admitted()


def test_stamps_of_past_minutes_avoid_the_rate_within_a_bound_only(store: CompanionStore):
    house = House(store, AdmissionRules(rate=3))
    house.do("approve", "net:5")
    taken = [house.is_admitted(replace(HELLO, id=f"{n}", at=NOW - 61 - 60 * n)) for n in range(100)]
    assert sum(taken) == LATE_MINUTES * 3


def test_a_message_that_was_not_kept_does_not_count(store: CompanionStore):
    house = House(store, AdmissionRules(rate=1))
    house.do("approve", "net:5")
    for at in (0, NOW - 600):
        message = replace(HELLO, at=at)
        for _ in range(LATE_MINUTES + 2):
            admission = house.admit(message)
            assert admission.caller
            house.people.take_back(admission)
        admitted = [house.is_admitted(message) for _ in range(2 * LATE_MINUTES)]
        assert sum(admitted) == (LATE_MINUTES if at else 1)
