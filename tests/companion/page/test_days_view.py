"""Days on the page: a calendar in the board's zone, sessions, notes and what they gave, in pages of bounded bytes."""

import re
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import parse_qs, urlsplit

import pytest

from page_client import PageClient, Parsed
from peers import Companion
from sending import Sent
from view_checks import VIEW_BYTES

HOSTILE = "\"<&'" * 450
NOON = 1_795_176_000
"""2026-11-20 12:00 UTC."""

SUMMER_NIGHT, WINTER_NIGHT = 1_782_945_000, 1_795_818_600
"""2026-07-01 and 2026-11-27, 22:30 UTC: in Berlin past midnight, and before it."""

HOUR = 3600
DAY = 86400


class Zoned(Sent):
    """A board east of Greenwich."""

    def hello(self):
        self.link += 1
        logs = {name: [self.epoch, 1, self._next(name), self.rewrites] for name in self.lines}
        return self.ask("hello", b"", version=1, zone=540, relied=0, rule="", **logs)


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion with a board of some days, one of nothing, and one of a day with thousands of turns."""
    with Companion(tmp_path_factory.mktemp("days") / "home") as companion:
        kitchen = Zoned(companion.posted, "kitchen")
        kitchen.say("good morning", sid="s1", at=NOON)
        kitchen.say("and in the shed", sid="s2", at=NOON + 60)
        kitchen.say("Good morning, Ann.", sid="s1", role="assistant", who="board", at=NOON + 120)
        kitchen.say("still up?", sid="s1", at=NOON + 4 * HOUR)  # after midnight there
        kitchen.say("/recall tea", sid="s1", at=NOON + 5 * HOUR, command="recall")
        kitchen.write("journal", op="redact", turn=kitchen.say("a secret", sid="s1", at=NOON), at=NOON)
        kitchen.say("said by a wrong clock", at=1 << 45)
        kitchen.say("said by another one", at=-DAY)
        kitchen.say("in no session", sid="s" + "9" * 6000, at=NOON)
        kitchen.keep("Ann is up early", created=NOON, tags=["ann"])
        kitchen.keep("Ann likes mornings", created=NOON + DAY, source="distilled", notes=["2026-11-20.md"])
        kitchen.keep("the shed is cold", created=NOON + 60 * DAY)
        kitchen.sync()
        kitchen.note("2026-11-20.md", "# Friday\n- Ann was up early\n")
        kitchen.note("2026-11-20~ann.md", "- Ann's own note\n")
        kitchen.note("MEMORY.md", "- lasting\n")
        Sent(companion.posted, "empty", board="b2").sync()
        berlin = Sent(companion.posted, "berlin", board="b4", zone=60, rule="CET-1CEST,M3.5.0,M10.5.0/3")
        for at in (SUMMER_NIGHT, WINTER_NIGHT):
            berlin.say("good night", at=at)
            berlin.keep(f"late at {at}", created=at)
        berlin.sync()
        busy = Sent(companion.posted, "busy", board="b3")
        for number in range(1500):
            busy.say(f"turn {number}", at=NOON + number)
        for number in range(8):
            busy.say(f"{HOSTILE} {number}", sid="s2", at=NOON + 2000 + number)
            busy.keep(HOSTILE, created=NOON)
            busy.sync()
        busy.note("2026-11-20.md", "\n".join([HOSTILE] * 5 + [f"line {number}" for number in range(3000)]))
        yield companion


@pytest.fixture
def browser(days: Companion) -> Iterator[PageClient]:
    with closing(PageClient(days.url)) as client:
        client.open("/")
        yield client


def following(view: Parsed, name: str, at: int) -> int:
    """The value of a parameter in the link that goes on from a place, 0 if there is none."""
    links = [each["href"] for each in view.all("a") if each.get("rel") == "next" and "?" in each["href"]]
    values = [int(parse_qs(urlsplit(link).query).get(name, ["0"])[0]) for link in links]
    return next((value for value in values if value > at), 0)


def linked_days(view: Parsed) -> list[str]:
    return [each["href"].rpartition("/")[2] for each in view.all("a") if re.search(r"/days/\d", each["href"])]


def test_days_and_times_follow_the_rule_of_a_boards_time_zone(browser: PageClient, days: Companion):
    found = days.client.get("/v1/boards/berlin/journal?first=2026-06-01&days=366").json()
    assert found["zone"] == {"standard": 60, "rule": "CET-1CEST,M3.5.0,M10.5.0/3"}
    assert [(mark["day"], mark["turns"], mark["memories"]) for mark in found["marks"]] == [
        ("2026-07-02", 1, 1),
        ("2026-11-27", 1, 1),
    ]
    view = browser.open("/boards/berlin/days/2026-07-02")
    assert "2026-07-02 00:30 +0200" in {each.get("title") for each in view.all("time")}
    since = browser.open("/boards/berlin/memories?since=2026-07-02&until=2026-07-02").words
    assert f"late at {SUMMER_NIGHT}" in since and f"late at {WINTER_NIGHT}" not in since
    assert days.client.get("/v1/boards/berlin").json()["board"]["zone"] == found["zone"]


def test_the_calendar_shows_the_days_that_have_something_in_the_boards_zone(browser: PageClient):
    view = browser.open("/boards/kitchen/days?month=2026-11")
    assert set(linked_days(view)) == {"2026-11-20", "2026-11-21"}
    assert "2026-11-20: 3 turns, 1 memory" in view.words and "2026-11-21: 2 turns, 1 memory" in view.words
    assert "✎" in view.words


def test_without_a_month_the_latest_one_with_something_is_shown(browser: PageClient):
    view = browser.open("/boards/kitchen/days")
    assert linked_days(view)[0] == "2027-01-19"
    assert "?month=2026-12" in [each["href"] for each in view.all("a")]
    assert "Nothing was said or remembered in this month." in browser.open("/boards/kitchen/days?month=2026-12").words


def test_a_board_of_nothing_says_what_to_do_first(browser: PageClient):
    view = browser.open("/boards/empty/days")
    assert "Talk to the board first" in view.words
    assert "/boards/empty/chat" in [each["href"] for each in view.all("a")]
    words = browser.open("/boards/empty/days/2026-11-20").words
    assert "Nothing was said on this day." in words and "There is no note of this day." in words


def test_a_day_has_its_sessions_its_note_and_what_that_gave(browser: PageClient):
    view = browser.open("/boards/kitchen/days/2026-11-20")
    assert [each["id"] for each in view.all("article")] == ["t1", "t3", "t2"]
    assert view.words.index("good morning s1") < view.words.index("and in the shed s2")
    assert "- Ann was up early" in view.words and "lasting" not in view.words and "secret" not in view.words
    made = view.words.split("What the note gave")[1]
    assert "Ann likes mornings" in made.split("Remembered on this day")[0]
    assert "Ann is up early" in made.split("Remembered on this day")[1]
    assert {"/boards/kitchen/memories/m1", "/boards/kitchen/memories/m2"} <= {each["href"] for each in view.all("a")}
    assert "2026-11-21" in linked_days(view)


def test_the_note_of_another_person_is_a_link_away(browser: PageClient):
    view = browser.open("/boards/kitchen/days/2026-11-20")
    assert "Ann's own note" not in view.words
    assert "?principal=ann" in [each["href"] for each in view.all("a")]
    assert "Ann's own note" in browser.open("/boards/kitchen/days/2026-11-20?principal=ann").words


def test_a_turn_leads_to_its_day(browser: PageClient):
    answer = browser.http.get("/boards/kitchen/days?turn=t4")
    assert (answer.status_code, answer.headers["location"]) == (303, "/boards/kitchen/days/2026-11-21#t4")


def test_a_day_of_thousands_of_turns_comes_in_pages_of_bounded_bytes(browser: PageClient):
    path = "/boards/busy/days/2026-11-20"
    seen: list[str] = []
    at = 0
    while at or not seen:
        answer = browser.http.get(f"{path}?offset={at}")
        assert answer.status_code == 200 and len(answer.content) <= VIEW_BYTES
        view = Parsed(answer.text)
        seen += [each["id"] for each in view.all("article")]
        at = following(view, "offset", at)
    assert seen == [f"t{number}" for number in range(1, 1509)]


def test_a_long_note_comes_in_parts(browser: PageClient):
    first = browser.http.get("/boards/busy/days/2026-11-20")
    assert len(first.content) <= VIEW_BYTES
    at, seen = 6, ""
    while at:
        view = browser.open(f"/boards/busy/days/2026-11-20?line={at}")
        seen += view.words
        at = following(view, "line", at)
    assert all(f"line {number}\n" in seen for number in range(3000))


def test_the_api_and_the_page_have_the_same_days(days: Companion, browser: PageClient):
    found = days.client.get("/v1/boards/kitchen/journal?first=2026-11-01&days=30").json()
    assert (found["zone"]["standard"], found["first"], found["last"]) == (540, "2026-11-20", "2027-01-19")
    assert found["marks"] == [
        {"day": "2026-11-20", "turns": 3, "memories": 1, "notes": 2},
        {"day": "2026-11-21", "turns": 2, "memories": 1, "notes": 0},
    ]
    day = days.client.get("/v1/boards/kitchen/journal/2026-11-20?limit=2").json()
    assert [each["id"] for each in day["turns"]] == ["t1", "t3"] and day["turns_total"] == 3
    assert day["note"]["lines"][1] == "- Ann was up early" and day["principals"] == ["ann", "owner"]
    assert [each["id"] for each in day["made"]] == ["m2"] and (day["before"], day["after"]) == (None, "2026-11-21")
