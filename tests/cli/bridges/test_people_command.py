"""`engram people` and `engram alert`, against a companion that runs."""

import contextlib
import io
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_case import engram, fine
from companion_thread import companion_thread
from engram_host.cli.exit_status import FAILED, NOT_FOUND, WRONG_USAGE
from engram_host.companion.bridge_types import PairingRequest
from engram_host.companion.serving.running import RunningCompanion
from waiting import wait_until
from webhook import Webhook


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCompanion]:
    home = tmp_path_factory.mktemp("people")
    home.chmod(0o700)
    with companion_thread(home) as running:
        yield running


def people(running: RunningCompanion, *words: str):
    return fine("people", *words, "--home", running.app.settings.home, "--json").json


def test_a_stranger_is_listed_and_approved_by_their_code(running: RunningCompanion):
    now = int(time.time())
    running.app.store.people.add_code(PairingRequest("QHJ4WXTK", "telegram:12345", "Ann <3", now))
    (request,) = people(running, "list")["waiting"]
    assert (request["code"], request["ref"], request["at"]) == ("QHJ4WXTK", "telegram:12345", now)
    approved = people(running, "approve", "QHJ4WXTK", "--name", "ann")
    assert approved == {
        "principal": "ann",
        "name": "ann",
        "ids": ["telegram:12345"],
        "is_blocked": False,
    }
    assert people(running, "list") == {"people": [approved], "waiting": [], "groups": {}}
    running.app.store.people.remove_person("ann")


def test_who_is_approved_as_the_owner_is_the_owner(running: RunningCompanion):
    approved = people(running, "approve", "irc:gus", "--owner")
    assert (approved["principal"], approved["ids"]) == ("owner", ["irc:gus"])
    running.app.store.people.remove_person("owner")


def test_who_is_blocked_is_listed_as_blocked(running: RunningCompanion):
    assert people(running, "block", "irc:mallory")["is_blocked"] is True
    assert [each["is_blocked"] for each in people(running, "list")["people"]] == [True]
    running.app.store.people.remove_person("irc:mallory")


def test_a_group_is_opened_and_closed(running: RunningCompanion):
    opened = people(running, "group", "matrix:!room:example.org", "mention")
    assert opened == {"groups": {"matrix:!room:example.org": "mention"}}
    assert people(running, "group", "matrix:!room:example.org", "off") == {"groups": {}}


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("approve", "ABCDEFGH"), (NOT_FOUND, WRONG_USAGE)),
        (("group", "matrix:!room:example.org", "sometimes"), (WRONG_USAGE,)),
        (("group", "matrix:!room:example.org", "off"), (NOT_FOUND,)),
    ],
)
def test_who_is_nobody_is_said_in_a_sentence(running: RunningCompanion, words, status):
    ran = engram("people", *words, "--home", running.app.settings.home)
    assert ran.status in status and ran.err.startswith(f"engram people {words[0]}: ")


def test_lists_for_people_name_codes_accounts_and_groups(running: RunningCompanion):
    where = ("--home", running.app.settings.home)
    assert fine("people", "list", *where).out == "nobody was approved yet.\n"
    running.app.store.people.add_code(PairingRequest("ZZZZ4444", "irc:bob", "bob\x1b[31m", int(time.time())))
    fine("people", "group", "irc:#garden", "always", *where)
    told = fine("people", "list", *where).out
    assert "group irc:#garden: always" in told and "ZZZZ4444  irc:bob" in told and "\x1b" not in told


# --- alerts


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with contextlib.closing(Webhook()) as made:
        yield made


def test_an_address_is_added_tested_and_removed(tmp_path: Path, hook: Webhook, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(hook.url + "\n"))
    added = fine("alert", "add", "--home", tmp_path, "--json")
    assert added.json == {"number": 1, "name": "alert address 1 (JSON)"} and len(hook.taken) == 1
    assert fine("alert", "test", "--home", tmp_path, "--json").json == {"sent": ["alert address 1 (JSON)"]}
    assert len(hook.taken) == 2
    assert fine("alert", "remove", "1", "--home", tmp_path, "--json").json == {"number": 1, "removed": True}
    assert engram("alert", "test", "--home", tmp_path).status == NOT_FOUND


def test_an_address_that_takes_no_alert_is_not_kept_nor_shown(
    tmp_path: Path, hook: Webhook, monkeypatch: pytest.MonkeyPatch
):
    hook.status = 500
    monkeypatch.setattr(sys, "stdin", io.StringIO(hook.url + "\n"))
    ran = engram("alert", "add", "--home", tmp_path / "home")
    assert ran.status == FAILED and "hidden-path" not in ran.err and not (tmp_path / "home").exists()


def test_a_companion_that_runs_sends_to_a_new_address_at_once(
    running: RunningCompanion, hook: Webhook, monkeypatch: pytest.MonkeyPatch
):
    home = running.app.settings.home
    running.app.store.people.add_code(PairingRequest("YYYY5555", "irc:eve", "eve", int(time.time())))
    monkeypatch.setattr(sys, "stdin", io.StringIO(hook.url + "\n"))
    fine("alert", "add", "--no-check", "--home", home)
    assert "alerts" in {status.name for status in running.app.supervisor.statuses()}
    wait_until("the request is told", lambda: any("irc:eve" in each["message"] for each in hook.taken))
    fine("alert", "remove", "1", "--home", home)
    assert "alerts" not in {status.name for status in running.app.supervisor.statuses()}
