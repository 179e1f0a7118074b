"""Signing in on the page and out: cookies, one-time links, sessions that end, and forms of other sites."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from cli_case import fine
from companion_store import opened_store
from device_tokens import make_tokens
from engram_host.companion.auth import tokens
from engram_host.companion.auth.sessions import COOKIE, csrf_token, make_sign_in_path
from engram_host.companion.store import CompanionStore
from one_case import in_one_case
from page_client import PageClient
from peers import Companion
from sending import Sent
from served_companion import Served, run
from waiting import wait_until


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion that asks for tokens, with a board."""
    home = tmp_path_factory.mktemp("page") / "home"
    make_tokens(home, "kitchen")
    with Companion(home, ENGRAM_TOKENS="on") as companion:
        board = Sent(companion.posted, "kitchen")
        board.sync()
        yield companion


@pytest.fixture
def browser(strict: Companion) -> Iterator[PageClient]:
    with closing(PageClient(strict.url)) as client:
        yield client


@pytest.fixture
def store(strict: Companion) -> Iterator[CompanionStore]:
    """The database of the companion, as `engram page` opens it."""
    with opened_store(strict.home) as opened:
        yield opened


def operator(strict: Companion) -> str:
    return (strict.home / tokens.OPERATOR_FILE).read_text().strip()


def signed_in(browser: PageClient, token: str) -> PageClient:
    answer = browser.send("/signin", {"token": token}, seen="/signin")
    assert answer.status_code == 303, answer.text
    return browser


# --- tokens


def test_a_browser_without_a_session_is_led_to_sign_in_and_back(strict: Companion, browser: PageClient):
    answer = browser.http.get("/boards/kitchen?days=7")
    assert (answer.status_code, answer.headers["location"]) == (303, "/signin?next=/boards/kitchen%3Fdays%3D7")
    form = browser.open("/boards/kitchen?days=7")
    sent = browser.send("/signin", {"token": operator(strict), "next": form.field("next")})
    assert (sent.status_code, sent.headers["location"]) == (303, "/boards/kitchen?days=7")
    assert "kitchen" in browser.open("/boards/kitchen").words


def test_a_program_without_a_token_is_refused_and_not_led_anywhere(strict: Companion):
    answer = httpx.get(f"{strict.url}/")
    assert answer.status_code == 401 and "Authorization" in answer.json()["problem"]


@in_one_case(
    "next", ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "/\r\nx", ""]
)
def test_signing_in_leads_to_no_other_site(strict: Companion, browser: PageClient, next: str):
    answer = browser.send("/signin", {"token": operator(strict), "next": next})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


@in_one_case("token", ["", "wrong", "A" * 43])
def test_no_operators_token_is_refused_in_a_sentence(browser: PageClient, token: str):
    answer = browser.send("/signin", {"token": token})
    assert answer.status_code == 403 and "no operator" in answer.text and COOKIE not in answer.cookies


def test_a_boards_token_opens_no_page(strict: Companion, browser: PageClient):
    assert browser.send("/signin", {"token": make_tokens(strict.home, "attic")["attic"]}).status_code == 403


def test_failed_sign_ins_are_slowed_down_as_failed_logins_are(strict: Companion):
    with closing(PageClient(strict.url)) as browser:
        began = time.monotonic()
        for _ in range(24):
            browser.send("/signin", {"token": "wrong"})
        assert time.monotonic() - began > 1.0


def test_the_cookie_is_for_no_script_and_no_other_site(strict: Companion, browser: PageClient):
    answer = browser.send("/signin", {"token": operator(strict)})
    cookie = answer.headers["set-cookie"]
    parts = {part.strip().lower() for part in cookie.split(";")}
    assert {"httponly", "samesite=strict", "path=/", "max-age=2592000"} <= parts and "secure" not in parts
    assert operator(strict) not in cookie


def test_the_cookie_of_a_page_with_tls_goes_over_tls_only(tmp_path: Path):
    home = tmp_path / "home"
    make_tokens(home, "kitchen")
    fine("tls", "127.0.0.1", "--home", str(home))
    cookies: list[str] = []

    async def play(companion: Served) -> None:
        token = (home / tokens.OPERATOR_FILE).read_text().strip()
        answer = await companion.client.post("/signin", data={"token": token})
        cookies.append(answer.headers["set-cookie"].lower())

    files = {("http", "certificate"): "tls/companion.pem", ("http", "key"): "tls/companion.key"}
    run(home, play, files)
    assert "; secure" in cookies[0]


def test_a_session_is_kept_as_a_digest_only(strict: Companion, browser: PageClient, store: CompanionStore):
    value = signed_in(browser, operator(strict)).http.cookies[COOKIE]
    held = store.sessions.page_session(tokens.token_digest(value), int(time.time()))
    assert held and held.token == tokens.token_digest(operator(strict))
    files = b"".join(path.read_bytes() for path in strict.home.glob("companion.db*"))
    assert value.encode() not in files


# --- what a session may do


def test_a_session_may_use_the_api_as_its_token_may(strict: Companion, browser: PageClient):
    signed_in(browser, operator(strict))
    assert [each["name"] for each in browser.http.get("/v1/devices").json()] == ["kitchen"]


def test_what_changes_something_by_cookie_alone_is_refused(strict: Companion, browser: PageClient):
    signed_in(browser, operator(strict))
    path, message = "/v1/boards/kitchen/chat?wait=0", {"text": "hi"}
    refused = browser.http.post(path, json=message, headers={"Origin": strict.url})
    assert refused.status_code == 403 and "X-CSRF-Token" in refused.text
    wrong = browser.http.post(path, json=message, headers={"X-CSRF-Token": "0" * 64})
    assert wrong.status_code == 403
    shown = {"X-CSRF-Token": csrf_token(browser.http.cookies[COOKIE])}
    assert browser.http.post(path, json=message, headers=shown).status_code == 200


def test_a_form_shows_the_csrf_token_of_its_own_session(strict: Companion, browser: PageClient):
    signed_in(browser, operator(strict))
    path = "/boards/kitchen/chat"
    for fields in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": csrf_token(tokens.new_token())}):
        answer = browser.send(path, {"id": "page:refused", "text": "hi", **fields})
        assert answer.status_code == 403, fields
    assert browser.send(path, {"id": "page:taken", "text": "hi"}, seen=path).status_code == 303
    words = browser.open("/boards/kitchen/chat/message?id=page:taken").words
    assert "hi" in words
    browser.open("/boards/kitchen/chat/message?id=page:refused", status=404)


def test_a_form_with_a_file_shows_the_csrf_token_as_well(strict: Companion, browser: PageClient):
    signed_in(browser, operator(strict))
    path = "/boards/kitchen/chat"
    csrf = browser.open(path).field("csrf")
    headers = {"Origin": strict.url}
    fields = {"id": (None, "page:multipart"), "text": (None, "hi")}
    assert browser.http.post(path, files=fields, headers=headers).status_code == 403
    assert browser.http.post(path, files=fields | {"csrf": (None, csrf)}, headers=headers).status_code == 303


@in_one_case("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_a_form_of_another_site_is_refused_with_the_right_token_too(
    strict: Companion, browser: PageClient, origin: str
):
    signed_in(browser, operator(strict))
    fields = {"id": "page:other", "text": "hi"}
    answer = browser.send("/boards/kitchen/chat", fields, seen="/boards/kitchen/chat", headers={"Origin": origin})
    assert answer.status_code == 403 and "another site" in answer.text


def test_a_form_without_any_session_is_refused(strict: Companion, browser: PageClient):
    assert browser.send("/boards/kitchen/chat", {"id": "page:no", "text": "hi"}).status_code == 401


def test_a_read_only_token_looks_at_all_and_changes_nothing(strict: Companion, browser: PageClient):
    token = tokens.new_token()
    with opened_store(strict.home) as store:
        store.tokens.add_operator_token(tokens.operator_token_entry("reader", token, True, 0))
    signed_in(browser, token)
    assert "read-only" in browser.open("/").words
    fields = {"id": "page:reader", "text": "hi"}
    refused = browser.send("/boards/kitchen/chat", fields, seen="/boards/kitchen/chat")
    assert refused.status_code == 403 and "may only read" in refused.text
    assert browser.send("/signout", {}, seen="/signout").status_code == 303


# --- the end of sessions


def ends(browser: PageClient) -> Callable[[], bool]:
    return lambda: browser.http.get("/").status_code == 303


def test_a_session_ends_with_the_token_by_which_it_began(strict: Companion, browser: PageClient):
    token = fine("token", "add", "gone", "--home", str(strict.home), "--json").json["token"]
    signed_in(browser, token)
    browser.open("/")
    fine("token", "remove", "gone", "--home", str(strict.home))
    wait_until("the session ends with its token", ends(browser))


def test_signing_out_ends_one_session_and_everywhere_all_of_the_token(strict: Companion):
    token = fine("token", "add", "many", "--home", str(strict.home), "--json").json["token"]
    browsers = [signed_in(PageClient(strict.url), token) for _ in range(3)]
    other = signed_in(PageClient(strict.url), operator(strict))
    kept = browsers[0].http.cookies[COOKIE]
    assert browsers[0].send("/signout", {}, seen="/signout").status_code == 303
    assert COOKIE not in browsers[0].http.cookies
    browsers[0].http.cookies.set(COOKIE, kept)
    assert [each.http.get("/").status_code for each in browsers] == [303, 200, 200]
    browsers[1].send("/signout", {"everywhere": "yes"}, seen="/signout")
    assert [each.http.get("/").status_code for each in (*browsers, other)] == [303, 303, 303, 200]


def test_the_api_signs_out_all_browsers_of_its_token_and_ends_its_links(strict: Companion, store: CompanionStore):
    token = fine("token", "add", "all", "--home", str(strict.home), "--read-only", "--json").json["token"]
    browsers = [signed_in(PageClient(strict.url), token) for _ in range(2)]
    other = signed_in(PageClient(strict.url), operator(strict))
    link = make_sign_in_path(store.sessions, tokens.token_digest(token), is_local=True)
    header = {"Authorization": f"Bearer {token}"}
    answers = [httpx.delete(f"{strict.url}/v1/page/sessions", headers=header).json() for _ in range(2)]
    assert answers == [{"ended": 2}, {"ended": 0}]
    assert [each.http.get("/").status_code for each in (*browsers, other)] == [303, 303, 200]
    assert "used already" in other.follow_link(link, status=403).words


def test_who_has_no_operators_token_signs_nobody_out(strict: Companion):
    browser = signed_in(PageClient(strict.url), operator(strict))
    board = make_tokens(strict.home, "garden")["garden"]
    for header, status in (({}, 401), ({"Authorization": f"Bearer {board}"}, 403)):
        assert httpx.delete(f"{strict.url}/v1/page/sessions", headers=header).status_code == status
    assert browser.http.delete("/v1/page/sessions").status_code == 403  # it has no CSRF token
    assert browser.http.get("/").status_code == 200


# --- one-time links


def test_a_link_signs_in_once(strict: Companion, store: CompanionStore, browser: PageClient):
    link = make_sign_in_path(store.sessions, tokens.token_digest(operator(strict)), is_local=True)
    answer = browser.http.get(link)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "kitchen" in browser.open("/").words
    with closing(PageClient(strict.url)) as second:
        assert "used already" in second.follow_link(link, status=403).words
        assert second.http.get("/").status_code == 303


# --- where no token is asked for


def test_without_tokens_the_page_opens_signed_in_and_its_forms_need_the_session(companion: Companion, board):
    board("kitchen").sync()
    path, fields = "/boards/kitchen/chat", {"id": "page:open", "text": "hi"}
    with closing(PageClient(companion.url)) as browser:
        assert browser.send(path, fields).status_code == 403
        browser.open("/")
        assert COOKIE in browser.http.cookies
        assert browser.send(path, fields).status_code == 403
        assert browser.send(path, fields, seen=path).status_code == 303


def test_a_session_of_a_companion_without_tokens_is_none_once_it_asks_for_them(tmp_path: Path):
    home = tmp_path / "home"
    make_tokens(home, "kitchen")
    with Companion(home) as companion, closing(PageClient(companion.url)) as browser:
        browser.open("/")
        value = browser.http.cookies[COOKIE]
    with Companion(home, ENGRAM_TOKENS="on") as companion, closing(PageClient(companion.url)) as browser:
        browser.http.cookies.set(COOKIE, value)
        assert browser.http.get("/").status_code == 303
        assert browser.http.get("/v1/devices").status_code == 401


def test_a_page_that_was_led_here_by_another_name_gets_no_session(companion: Companion):
    with closing(PageClient(companion.url)) as browser:
        answer = browser.http.get("/", headers={"Host": "evil.example"})
        assert answer.status_code == 403 and COOKIE not in answer.cookies
