"""Settings of boards from afar: the firmware's rules before a change is sent, what is known, and secrets that nobody sees."""

from collections.abc import Callable

import pytest

from engram.config import SECRETS, SETTINGS
from engram.errors import EngramError
from engram_host.companion.board_settings import SECTIONS, all_settings, check_value, settings_of, written
from one_case import in_one_case
from peers import Companion
from sending import Sent


def path(board: Sent) -> str:
    return f"/v1/boards/{board.device}/settings"


def values(companion: Companion, board: Sent) -> dict[str, object]:
    return companion.client.get(path(board)).json()["values"]


# --- the table


def test_each_setting_of_the_firmware_stands_in_one_section():
    names = [line.partition(" ")[0] for line in SETTINGS.strip().split("\n")]
    assert list(all_settings()) == [*names, *SECRETS]
    groups = {group for each in SECTIONS.values() for group in each}
    assert {name.partition(".")[0] for name in names} == groups
    assert sum(len(settings_of(section)) for section in SECTIONS) == len(all_settings())


def test_each_default_is_a_value_that_may_be_set():
    for info in all_settings().values():
        if not info.is_secret and info.name != "companion.chat":
            check_value(info.name, written(info.default))


def test_a_rule_of_a_time_zone_is_a_value_that_may_be_set():
    for value in ("-03:30", "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"):
        check_value("timezone", value)
    with pytest.raises(EngramError, match=r"must be an offset such as \+01:00, or a rule such as CET-1CEST"):
        check_value("timezone", "Europe/Berlin")


@in_one_case(
    "name, value",
    [
        ("llm.retries", "11"),
        ("llm.retries", "many"),
        ("llm.retries", ""),
        ("extract.on", "yes"),
        ("log.level", "loud"),
        ("timezone", "noon!!"),
        ("llm.url", "ftp://x"),
        ("companion.url", "nowhere"),
        ("companion.device", "Kitchen!"),
        ("network.hostname", "-x"),
        ("watchdog.seconds", "5"),
        ("llm.key", "two words"),
        ("wifi", '[{"ssid": ""}]'),
        ("companion.chat", "owner"),
        ("senses.tell", "two\nlines"),
        ("nothing", "1"),
    ],
)
def test_what_the_firmware_would_refuse_is_refused_before_it_is_sent(
    companion: Companion, board: Callable[..., Sent], name: str, value: str
):
    with pytest.raises(EngramError):
        check_value(name, value)
    kitchen = board()
    kitchen.hello()
    refused = companion.client.post(path(kitchen), json={"name": name, "value": value})
    assert refused.status_code == 422 and companion.client.get(path(kitchen)).json()["recent"] == []


# --- what is known


def test_nothing_is_known_until_the_board_has_listed_what_is_set(companion: Companion, board: Callable[..., Sent]):
    kitchen = board()
    kitchen.hello()
    assert companion.client.get(path(kitchen)).json()["read_at"] == 0
    first, second = (companion.client.post(f"{path(kitchen)}/read").json() for _ in range(2))
    assert first == second, "a list that is asked for already is not asked for again"
    assert kitchen.answer(
        "llm.retries 5", 'llm.model "a"', "llm.key is set", "evil.name 3", "log.level oops", "2 of all"
    )
    assert values(companion, kitchen) == {"llm.retries": 5, "llm.model": "a", "llm.key": None}


def test_a_change_is_known_once_the_board_has_made_it(companion: Companion, board: Callable[..., Sent]):
    kitchen = board()
    kitchen.hello()
    companion.client.post(f"{path(kitchen)}/read")
    kitchen.answer("0 of all")
    asked = companion.client.post(path(kitchen), json={"name": "llm.retries", "value": "7"}).json()
    assert (asked["said"]["text"], asked["state"]) == ("/setting llm.retries 7", "waiting")
    assert values(companion, kitchen) == {}
    assert kitchen.answer("llm.retries is set; it holds from the board's next start") == "/setting llm.retries 7"
    assert values(companion, kitchen) == {"llm.retries": 7}
    companion.client.post(path(kitchen), json={"name": "llm.retries", "value": "8"})
    kitchen.answer(["problem", "only the owner"])
    found = companion.client.get(path(kitchen)).json()
    assert found["values"] == {"llm.retries": 7}
    newest = found["recent"][0]
    assert (newest["message"]["state"], newest["answer"]["problems"]) == ("done", ["only the owner"])


# --- secrets


def test_a_secret_is_shown_to_the_board_alone_and_is_gone_once_it_answered(
    companion: Companion, board: Callable[..., Sent]
):
    kitchen = board()
    kitchen.hello()
    asked = companion.client.post(path(kitchen), json={"name": "llm.key", "value": "sk-hidden-42"})
    assert "sk-hidden-42" not in asked.text
    chat = f"/v1/boards/{kitchen.device}/chat"
    mid = asked.json()["said"]["mid"]
    seen = [path(kitchen), chat, f"{chat}/{mid}?wait=0", f"/boards/{kitchen.device}/settings?section=secrets"]
    for each in seen:
        assert "sk-hidden-42" not in companion.client.get(each).text, each
    assert kitchen.answer("llm.key is set; it holds") == "/setting llm.key sk-hidden-42"
    for each in seen:
        assert "sk-hidden-42" not in companion.client.get(each).text, each
    assert values(companion, kitchen) == {"llm.key": None}
    kept = [each["said"]["text"] for each in companion.client.get(chat).json()]
    assert kept == ["/setting llm.key"]
