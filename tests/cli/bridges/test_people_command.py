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
from engram_host.cli.exit_status import FAILED, NOT_FOUND
from engram_host.companion.serving import RunningCompanion
from engram_host.companion.store.bridges.types import PairingRequest
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
    assert approved == {"principal": "ann", "name": "ann", "ids": ["telegram:12345"], "is_blocked": False}
    assert people(running, "list") == {"people": [approved], "waiting": [], "groups": {}}
    running.app.store.people.remove_person("ann")


def test_who_is_approved_as_the_owner_is_the_owner(running: RunningCompanion):
    approved = people(running, "approve", "irc:gus", "--owner")
    assert (approved["principal"], approved["ids"]) == ("owner", ["irc:gus"])
    running.app.store.people.remove_person("owner")


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
