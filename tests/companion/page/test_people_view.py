"""People on the page: strangers who are let in, people who are renamed, linked, blocked and removed, and groups."""

import time
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from companion_store import opened_store
from engram_host.companion.page.views.people import AT_ONCE
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.bridges.types import PairingRequest
from one_case import in_one_case
from page_client import PageClient
from peers import Companion

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def store(companion: Companion) -> Iterator[CompanionStore]:
    """The store of the companion, for what bridges put into it."""
    with opened_store(companion.home) as opened:
        yield opened


def people(companion: Companion) -> dict[str, dict[str, object]]:
    return {each["principal"]: each for each in companion.client.get("/v1/people").json()}


def add(browser: PageClient, ref: str, name: str) -> None:
    assert browser.send("/people/approve", {"who": ref, "name": name}, seen="/people").status_code == 303


def test_a_stranger_who_waits_is_let_in(companion: Companion, browser: PageClient, store: CompanionStore):
    store.people.add_code(PairingRequest("QHJ4WXTK", "telegram:501", EVIL, int(time.time())))
    view = browser.open("/people")
    assert EVIL in view.words and "QHJ4WXTK" in view.words and "telegram:501" in view.words
    sent = browser.send("/people/approve", {"who": "QHJ4WXTK", "name": "ann-501"}, seen="/people")
    assert sent.headers["location"] == "/people/person?who=ann-501"
    assert people(companion)["ann-501"]["ids"] == ["telegram:501"]
    assert "QHJ4WXTK" not in browser.open("/people").words


def test_a_person_is_renamed_linked_blocked_let_in_again_and_removed(companion: Companion, browser: PageClient):
    add(browser, "telegram:700", "bo")
    seen = "/people/person?who=bo"
    browser.send("/people/rename", {"who": "bo", "name": "Bo & Co"}, seen=seen)
    browser.send("/people/link", {"who": "bo", "other": "matrix:@bo:example.org"}, seen=seen)
    words = browser.open(seen).words
    assert "Bo & Co" in words and "matrix:@bo:example.org" in words
    browser.send("/people/block", {"who": "bo"}, seen=seen)
    assert people(companion)["bo"]["is_blocked"] is True and "blocked" in browser.open(seen).words
    browser.send("/people/approve", {"who": "telegram:700"}, seen=seen)
    assert people(companion)["bo"]["is_blocked"] is False
    assert browser.send("/people/remove", {"who": "bo"}, seen=seen).headers["location"] == "/people"
    assert "bo" not in people(companion)
    browser.open(seen, status=404)


def test_groups_are_opened_and_closed(companion: Companion, browser: PageClient):
    ref = "matrix:!room:example.org"
    browser.send("/people/groups", {"id": ref, "mode": "always"}, seen="/people")
    assert companion.client.get("/v1/people/groups").json() == {ref: "always"}
    assert ref in browser.open(f"/people?group={quote(ref)}").words
    browser.send("/people/groups", {"id": ref, "mode": "off"}, seen="/people")
    assert companion.client.get("/v1/people/groups").json() == {}


@in_one_case(
    "action, fields, status",
    [
        ("approve", {"who": "NOSUCHCO"}, 404),
        ("approve", {"who": "telegram:1", "name": "x" * 100}, 422),
        ("rename", {"who": "nobody", "name": "x"}, 404),
        ("link", {"who": "nobody", "other": "telegram:1"}, 404),
        ("groups", {"id": "nothing", "mode": "always"}, 422),
        ("block", {}, 422),
    ],
)
def test_a_change_that_cannot_be_made_says_why(browser: PageClient, action: str, fields: dict[str, str], status: int):
    answer = browser.send(f"/people/{action}", fields, seen="/people")
    assert answer.status_code == status and 'class="problem"' in answer.text


def test_many_people_are_paged_and_found(companion: Companion, browser: PageClient):
    for number in range(AT_ONCE + 5):
        companion.client.post("/v1/people/approve", json={"who": f"irc:p{number:03}", "name": f"many-{number:03}"})
    view = browser.open("/people?find=many-")
    assert f"{AT_ONCE + 5} people" in view.words and "many-054" not in view.words
    assert "many-054" in browser.open("/people?find=many-&at=2").words
    assert "many-017" in browser.open("/people?find=irc:p017").words
    assert "Nobody fits." in browser.open("/people?find=%3C").words
