"""The page of a person: they see what boards would show them, and nothing else of the companion."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock
from urllib.parse import quote

import httpx
import pytest
from fastapi.routing import APIRoute

from cli_case import engram, fine
from device_tokens import make_tokens
from engram_host.companion.auth import tokens
from engram_host.companion.auth.sessions import COOKIE, csrf_token
from engram_host.companion.page.page import Page
from engram_host.companion.page.routes import make_page_routers
from one_case import in_one_case
from page_client import PageClient, Parsed
from peers import Companion
from sending import Sent
from view_checks import VIEW_BYTES

EVIL = '<img src=x onerror=alert(1)>"{{7*7}}'
SETTINGS = """
[bridges.tele]
network = "telegram"
boards = ["kitchen", "busy"]

[bridges.irc]
network = "irc"
server = "irc.invalid:6697"
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion that asks for tokens. On Telegram people reach one of its two boards, on IRC both."""
    home = tmp_path_factory.mktemp("personal") / "home"
    made = make_tokens(home, "kitchen", "garden", "busy")
    with (home / "companion.toml").open("a") as file:
        file.write(SETTINGS)
    with Companion(home, ENGRAM_TOKENS="on") as companion:
        companion.client.headers["Authorization"] = f"Bearer {operator_token(companion)}"
        for device in ("kitchen", "garden"):
            board = Sent(_posting(companion, made[device]), device, board=device)
            for scope in ("user:ann", "user:bob", "user:owner", "ws:club", "all"):
                board.keep(f"tea memory of {scope} on {device}", scope=scope)
                board.say(f"tea turn of {scope} on {device}", scope=scope, who="somebody")
            board.say("/recall tea", scope="user:ann", command=True)
            board.keep(EVIL, scope="user:cy", tags=[EVIL])
            board.say(EVIL, scope="user:cy", who=EVIL)
            board.sync()
        busy = Sent(_posting(companion, made["busy"]), "busy", board="busy")
        for number in range(250):
            busy.say(f"turn-{number} {'字' * 400} the last word", scope="user:ann")
            if number % 30 == 29:
                busy.sync()  # more of such turns would not fit into one message
        busy.keep(f"{'<' * 900} the last word", scope="user:ann")
        busy.sync()
        for ref, name in (
            ("telegram:1", "ann"),
            ("irc:bob", "bob"),
            ("irc:cy", "cy"),
            ("matrix:@dan:example.org", "dan"),
        ):
            assert companion.client.post("/v1/people/approve", json={"who": ref, "name": name}).status_code == 200
        yield companion


def _posting(companion: Companion, token: str):
    def post(device: str, message: bytes) -> bytes:
        headers = {"Content-Type": "application/octet-stream", "Authorization": f"Bearer {token}"}
        answer = companion.client.post(f"/v1/devices/{device}/messages", content=message, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.content

    return post


def operator_token(companion: Companion) -> str:
    return (companion.home / tokens.OPERATOR_FILE).read_text().strip()


def opened(house: Companion, who: str) -> PageClient:
    """A browser that has opened the page of somebody."""
    browser = PageClient(house.url)
    path = house.client.post("/v1/people/page", json={"who": who}).json()["path"]
    browser.follow_link(path)
    return browser


@pytest.fixture
def ann(house: Companion) -> Iterator[PageClient]:
    with closing(opened(house, "ann")) as browser:
        yield browser


# --- what is theirs


def test_a_link_opens_the_page_of_a_person_once(house: Companion):
    path = house.client.post("/v1/people/page", json={"who": "telegram:1"}).json()["path"]
    with closing(PageClient(house.url)) as browser, closing(PageClient(house.url)) as second:
        view = browser.follow_link(path)
        assert "Mine" in view.words and "kitchen" in view.words and "People" not in view.words
        assert "used already" in second.follow_link(path, status=403).words


def test_a_preview_of_a_message_does_not_use_its_link_up(house: Companion):
    path = house.client.post("/v1/people/page", json={"who": "ann"}).json()["path"]
    preview = httpx.get(house.url + path, headers={"Accept": "text/html"}, follow_redirects=True)
    assert COOKIE not in preview.cookies
    with closing(PageClient(house.url)) as browser:
        assert "Mine" in browser.follow_link(path).words


FROM_A_MESSAGE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def test_a_link_in_a_message_of_another_site_opens_the_page_also_in_place_of_another_session(house: Companion):
    path = house.client.post("/v1/people/page", json={"who": "ann"}).json()["path"]
    with closing(opened(house, "bob")) as browser:
        before = browser.http.cookies[COOKIE]
        browser.http.cookies.delete(COOKIE)  # it is not sent when another site leads here
        form = browser.open(path, headers=FROM_A_MESSAGE)
        assert COOKIE not in browser.http.cookies
        browser.http.cookies.set(COOKIE, before)
        sent = {"code": form.field("code"), "csrf": form.field("csrf")}
        answer = browser.send("/signin", sent, headers={"Sec-Fetch-Site": "same-origin"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        browser.http.cookies.clear()
        browser.http.cookies.set(COOKIE, answer.cookies[COOKIE])
        assert "tea memory of user:ann on kitchen" in browser.open("/me/boards/kitchen").words


@in_one_case("headers", [{"Sec-Fetch-Dest": "iframe"}, {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}])
def test_a_page_of_another_site_may_only_link_to_where_one_signs_in(house: Companion, headers: dict[str, str]):
    path = house.client.post("/v1/people/page", json={"who": "ann"}).json()["path"]
    with closing(PageClient(house.url)) as browser:
        browser.open(path, status=403, headers=FROM_A_MESSAGE | headers)
        browser.open("/me", status=403, headers=FROM_A_MESSAGE)


def test_a_person_sees_their_own_memories_and_those_of_all(ann: PageClient):
    words = ann.open("/me/boards/kitchen").words
    assert "tea memory of user:ann on kitchen" in words and "tea memory of all on kitchen" in words
    assert "2 memories" in words
    for scope in ("user:bob", "user:owner", "ws:club"):
        assert scope not in words


def test_a_person_sees_what_was_said_with_them_by_day(ann: PageClient):
    words = ann.open("/me/boards/kitchen/days").words
    assert "tea turn of user:ann on kitchen" in words and "tea turn of all on kitchen" in words
    for part in ("user:bob", "user:owner", "ws:club", "/recall"):
        assert part not in words
    assert "Nothing was said here." in ann.open("/me/boards/kitchen/days?day=2001-01-01").words
    ann.open("/me/boards/kitchen/days?day=nonsense")


def test_a_person_reads_all_of_a_long_memory_and_of_a_long_turn(ann: PageClient):
    for path in ("/me/boards/busy", "/me/boards/busy/days"):
        view = ann.open(path)
        assert "the last word" not in view.words
        links = [each["href"] for each in view.all("a") if "/entries/" in each.get("href", "")]
        assert "the last word" in ann.open(links[-1]).words


def test_a_person_reads_nothing_of_others_by_its_id(ann: PageClient):
    seen = [ann.http.get(f"/me/boards/kitchen/entries/{entry}").status_code for entry in _ENTRIES]
    assert seen.count(200) == 4 and set(seen) == {200, 404}
    ann.open("/me/boards/garden/entries/m1", status=404)


_ENTRIES = [f"{kind}{number}" for kind in "mt" for number in range(1, 9)]


def test_all_turns_of_a_day_are_reached_in_views_of_few_bytes(house: Companion, ann: PageClient):
    seen: set[str] = set()
    for at in range(1, 10):
        answer = ann.http.get(f"/me/boards/busy/days?at={at}")
        assert len(answer.content) <= VIEW_BYTES
        found = {word for word in Parsed(answer.text).words.split() if word.startswith("turn-")}
        if not found:
            break
        assert not found & seen
        seen |= found
    assert len(seen) == 250
    oldest = house.client.get("/v1/people/ann/boards/busy/days", params={"offset": 200}).json()
    assert (oldest["total"], len(oldest["turns"])) == (250, 50)


def test_a_page_of_memories_beyond_the_last_is_the_last_one(ann: PageClient):
    assert "tea memory of user:ann on kitchen" in ann.open("/me/boards/kitchen?at=999").words


def test_a_person_finds_what_is_theirs_on_the_boards_that_they_reach(house: Companion, ann: PageClient):
    words = ann.open("/me?find=tea").words
    assert "tea memory of user:ann on kitchen" in words
    for part in ("user:bob", "user:owner", "ws:club", "garden"):
        assert part not in words
    with closing(opened(house, "bob")) as bob:
        words = bob.open("/me?find=tea").words
        assert "user:bob on kitchen" in words and "user:bob on garden" in words and "user:ann" not in words


def test_a_board_that_a_person_does_not_reach_is_as_one_that_there_is_not(ann: PageClient):
    for path in ("/me/boards/garden", "/me/boards/garden/days", "/me/boards/nothing"):
        ann.open(path, status=404)


def test_a_person_whose_networks_reach_no_board_is_told_whom_to_ask(house: Companion):
    with closing(opened(house, "dan")) as dan:
        assert "Ask whoever runs the companion" in dan.open("/me").words
        dan.open("/me/boards/kitchen", status=404)


def test_a_person_is_led_from_the_first_view_to_their_own_page(ann: PageClient):
    assert ann.http.get("/").headers["location"] == "/me"


@in_one_case("path", ["/me", "/me?find=onerror", "/me/boards/garden", "/me/boards/garden/days"])
@in_one_case("language", ["en", "zh"])
def test_a_view_shows_evil_text_as_text(house: Companion, path: str, language: str):
    with closing(opened(house, "cy")) as cy:
        view = cy.open(f"{path}{'&' if '?' in path else '?'}lang={language}")
    assert list(view.all("img")) == [] and view.scripts == []
    assert "onerror" in view.words or path == "/me"
    names = [name for name, _ in view.elements]
    assert names.count("h1") == names.count("main") == 1


# --- the operator's view of the same


def seen(house: Companion, path: str, status: int = 200, **query: str) -> Any:
    answer = house.client.get(f"/v1/people/{path}", params=query or None)
    assert answer.status_code == status, answer.text
    return answer.json()


@in_one_case("name", ["eve / home", "a/boards/b"])
def test_what_somebody_sees_is_served_though_their_name_has_a_slash(house: Companion, name: str):
    house.client.post("/v1/people/approve", json={"who": "irc:eve", "name": name}).raise_for_status()
    try:
        found = house.client.get(f"/v1/people/{quote('irc:eve', safe='')}/boards").raise_for_status().json()
        assert "garden" in found
        listed = seen(house, f"{quote(name, safe='')}/boards/garden/memories")
        assert [each["line"]["content"] for each in listed["entries"]] == ["tea memory of all on garden"]
    finally:
        house.client.post("/v1/people/remove", json={"who": "irc:eve"})


@in_one_case("who", ["ann", "telegram:1"])
def test_the_operator_sees_which_memories_a_person_sees(house: Companion, who: str):
    assert seen(house, f"{who}/boards") == ["busy", "kitchen"]
    found = seen(house, f"{who}/boards/kitchen/memories")
    texts = ["tea memory of all on kitchen", "tea memory of user:ann on kitchen"]
    assert (found["total"], [each["line"]["content"] for each in found["entries"]]) == (2, texts)
    second = seen(house, f"{who}/boards/kitchen/memories", limit="1", offset="1")
    assert (second["total"], [each["id"] for each in second["entries"]]) == (2, ["m1"])


def test_the_operator_sees_what_was_said_with_a_person_by_day(house: Companion):
    found = seen(house, "ann/boards/kitchen/days")
    assert [each["line"]["text"] for each in found["turns"]] == [
        "tea turn of user:ann on kitchen",
        "tea turn of all on kitchen",
    ]
    assert found["days"] == [[found["day"], 2]]
    assert seen(house, "ann/boards/kitchen/days", day="2001-01-01")["turns"] == []


def test_the_operator_sees_what_a_person_finds(house: Companion):
    found = seen(house, "ann/search", query="tea")
    assert {hit["device"] for hit in found["hits"]} == {"kitchen"}
    assert not [hit for hit in found["hits"] if "user:bob" in hit["text"] or "ws:club" in hit["text"]]
    assert [hit for hit in found["hits"] if "user:ann" in hit["text"]]


@in_one_case("path", ["ann/boards/garden/memories", "ann/boards/garden/days", "nobody/boards", "dan/search?query=tea"])
def test_what_nobody_sees_is_not_found_by_the_operator_either(house: Companion, path: str):
    seen(house, path, 404)


# --- an intruder


def routes(house: Companion) -> set[tuple[str, str]]:
    """All routes of the page and the API, as (method, path)."""
    page = Page(cast(Any, SimpleNamespace(sessions=None, requires_tokens=False)))
    routes = [route for router in make_page_routers(page, MagicMock()) for route in router.routes]
    found = {(method, route.path) for route in routes if isinstance(route, APIRoute) for method in route.methods or ()}
    described = house.client.get("/openapi.json").json()["paths"]
    return found | {(method.upper(), path) for path, methods in described.items() for method in methods}


OPEN = {
    ("GET", "/session"),
    ("GET", "/signin"),
    ("POST", "/signin"),
    ("GET", "/session"),
    ("GET", "/signout"),
    ("POST", "/signout"),
    ("GET", "/v1/alive"),
    ("GET", "/docs"),
    ("GET", "/static/{name}"),
    ("GET", "/me"),
    ("GET", "/me/boards/{device}"),
    ("GET", "/me/boards/{device}/days"),
    ("GET", "/me/boards/{device}/entries/{entry}"),
    ("GET", "/me/boards/{device}/media/{media}"),
    ("GET", "/me/boards/{device}/senses"),
    ("GET", "/me/boards/{device}/senses/{sense:path}"),
}


def test_a_person_may_use_no_other_route_of_the_page_or_the_api(house: Companion, ann: PageClient):
    csrf = csrf_token(ann.http.cookies[COOKIE])
    tried = routes(house) - OPEN
    assert len(tried) > 60
    for method, path in sorted(tried):
        address = re.sub(r"\{device\}", "kitchen", path)
        address = re.sub(r"\{[a-z_]+\}", "m1", address)
        headers = {"X-CSRF-Token": csrf, "Origin": house.url}
        answer = ann.http.request(method, address, headers=headers, data={"csrf": csrf} if method != "GET" else None)
        allowed = (303,) if (method, path) == ("GET", "/") else (403,)
        assert answer.status_code in allowed, (method, path, answer.status_code)
        assert "tea memory" not in answer.text and "user:bob" not in answer.text, path


def test_without_tokens_asked_for_a_person_sees_no_more(tmp_path: Path):
    with Companion(tmp_path / "home") as companion:
        companion.client.post("/v1/people/approve", json={"who": "irc:eve", "name": "eve"})
        with closing(opened(companion, "eve")) as eve:
            assert "Mine" in eve.open("/me").words
            for path in ("/people", "/health", "/v1/people", "/v1/devices", "/metrics"):
                assert eve.http.get(path).status_code == 403, path


def test_no_principal_in_an_address_or_a_form_changes_whose_page_it_is(ann: PageClient):
    for more in ("principal=bob", "who=bob", "scope=user:bob"):
        assert "user:bob" not in ann.open(f"/me/boards/kitchen?{more}").words
        assert "user:bob" not in ann.open(f"/me?find=tea&{more}").words


def test_the_operators_page_is_nobodys(house: Companion):
    with closing(PageClient(house.url)) as browser:
        browser.send("/signin", {"token": operator_token(house)})
        assert browser.http.get("/me").headers["location"] == "/"


# --- the end


@in_one_case("ending", ["block", "remove"])
def test_a_page_ends_with_its_person_and_does_not_come_back_with_them(house: Companion, ending: str):
    who = {"who": f"irc:{ending}"}
    house.client.post("/v1/people/approve", json=who | {"name": ending})
    unused = house.client.post("/v1/people/page", json=who).json()["path"]
    with closing(opened(house, ending)) as browser, closing(PageClient(house.url)) as late:
        assert browser.http.get("/me").status_code == 200
        house.client.post(f"/v1/people/{ending}", json=who)
        assert browser.http.get("/me").status_code == 303
        late.follow_link(unused, status=403)
        house.client.post("/v1/people/approve", json=who | {"name": ending})
        assert browser.http.get("/me").status_code == 303


def test_somebody_who_is_blocked_gets_no_page(house: Companion):
    house.client.post("/v1/people/approve", json={"who": "irc:mal", "name": "mal"})
    house.client.post("/v1/people/block", json={"who": "irc:mal"})
    refused = house.client.post("/v1/people/page", json={"who": "mal"})
    assert refused.status_code == 422 and "blocked" in refused.text


def test_signing_out_everywhere_ends_the_pages_of_one_person(house: Companion, ann: PageClient):
    with closing(opened(house, "ann")) as second, closing(opened(house, "bob")) as bob:
        csrf = csrf_token(ann.http.cookies[COOKIE])
        unused = house.client.post("/v1/people/page", json={"who": "ann"}).json()["path"]
        ann.http.post("/signout", data={"csrf": csrf, "everywhere": "yes"}, headers={"Origin": house.url})
        assert [each.http.get("/me").status_code for each in (second, bob)] == [303, 200]
        second.follow_link(unused, status=403)


# --- how a link is made


def test_the_link_is_made_on_the_page_and_by_the_command(house: Companion):
    with closing(PageClient(house.url)) as operator, closing(PageClient(house.url)) as browser:
        operator.send("/signin", {"token": operator_token(house)})
        made = operator.send("/people/page", {"who": "ann"}, seen="/people/person?who=ann").text
        (address,) = re.findall(r"<code>(http[^<]+/signin\?code=[^<]+)</code>", made)
        assert "Mine" in browser.follow_link(address.removeprefix(house.url)).words
    printed = fine("people", "page", "ann", "--home", house.home).out.strip()
    assert printed.startswith(f"{house.url}/signin?code=")
    assert engram("people", "page", "nobody", "--home", house.home).status != 0
