"""Each view: what it shows, that nothing in it is of others, its headers and its bytes."""

import gzip
import itertools
import json
import re
import tempfile
import time
from contextlib import closing
from importlib import resources
from pathlib import Path

import httpx
import pytest

from engram_host.companion.page.page import HEADERS, POLICY, Assets
from extent import extent
from one_case import in_one_case
from page_client import PageClient, Parsed
from peers import Companion
from perceiving_board import PerceivingBoard
from sending import Sent
from view_checks import EVIL, VIEW_BYTES, check_is_own

STATIC_BYTES = 250 * 1024

VIEWS = [
    "/",
    "/?find=kit&sort=-heard&state=connected",
    "/chat",
    "/chat?find=k",
    "/signout",
    "/people",
    "/people?find=n",
    "/people/person?who=evil",
    "/health",
    "/boards/kitchen/settings",
    "/boards/kitchen/settings?section=secrets",
    "/boards/kitchen/settings?section=model",
    "/boards/kitchen",
    "/boards/kitchen?days=366",
    "/boards/kitchen/chat",
    "/boards/kitchen/chat/message?id=page:evil",
    "/boards/kitchen/memories",
    "/boards/kitchen/memories?state=all&words=alert&sort=created&type=fact&since=2026-01-01&pinned=1",
    "/boards/kitchen/memories?state=trash",
    "/boards/kitchen/memories/m1",
    "/boards/kitchen/memories/m2",
    "/boards/kitchen/memories/m1/merge",
    "/boards/kitchen/memories/m1/merge?find=alert",
    "/boards/kitchen/memories/m1/merge?other=m2",
    "/search",
    "/search?q=alert&history=true&words=true",
    "/boards/kitchen/search?q=onerror",
    "/boards/kitchen/search?q=onerror&kind=journal&since=2026-01-01&until=2027-01-01",
    "/search/file?path=MEMORY.md&board=kitchen",
    "/search/file?path=2026-11-21.md&board=kitchen",
    "/boards/kitchen/days",
    "/boards/kitchen/days?month=2026-02",
    "/boards/kitchen/days?turn=t1",
    "/boards/kitchen/days/2026-11-21",
    "/boards/kitchen/days/2026-11-21?one=true",
    "/boards/kitchen/import",
    "/boards/kitchen/senses",
    "/boards/kitchen/senses?days=366",
    "/boards/kitchen/senses/%3Cb%3E%22%26/x?days=7",
]
PROBLEMS = [
    ("/boards/nobody", 404),
    ("/boards/kitchen?days=1", 422),
    ("/?sort=evil", 422),
    ("/boards/kitchen/chat/message?id=nothing", 404),
    ("/boards/nobody/memories", 404),
    ("/boards/kitchen/memories?state=evil", 422),
    ("/boards/kitchen/memories/m99", 404),
    ("/boards/kitchen/memories/m1/merge?other=m1", 422),
    ("/boards/nobody/search?q=x", 404),
    ("/boards/kitchen/search?q=x&since=2026-02-31", 422),
    ("/search?q=" + "x" * 2001, 422),
    ("/search/file?path=nothing.md", 404),
    ("/boards/nobody/days", 404),
    ("/boards/kitchen/days/2026-02-31", 422),
    ("/boards/kitchen/days?turn=t999", 404),
    ("/boards/nobody/import", 404),
    ("/boards/kitchen/import/0123456789abcdef", 404),
    ("/boards/nobody/senses", 404),
    ("/boards/kitchen/senses/nothing", 404),
    ("/boards/kitchen/senses?days=0", 422),
    ("/nothing-here", 404),
    ("/static/nothing", 404),
]


@pytest.fixture(scope="module")
def kitchen(companion: Companion) -> Sent:
    """A board that holds something evil in each field that a person, a model or a board can fill."""
    board = Sent(companion.posted, "kitchen", board="<b>&")
    board.keep(EVIL, tags=[EVIL], keywords=[EVIL])
    board.keep(EVIL, tags=[EVIL], source="distilled", notes=["2026-11-21.md"])
    board.say(EVIL, who=EVIL)
    fields = {"tags": [EVIL], "keywords": [EVIL], "type": EVIL, "source": EVIL, "scope": EVIL, "origin": f"{EVIL}:1"}
    board.keep(EVIL, **fields, turns=["t1", "t3"], notes=[EVIL], importance=EVIL, updated=EVIL, expires=EVIL)
    board.write("records", id="m2", content=f"{EVIL} again", tags=[EVIL, 7], created=EVIL, was=2)
    board.sync()
    for file in ("2026-11-21.md", "MEMORY.md"):
        board.note(file, f"# {EVIL}\n- {EVIL}\n")
    board.ask(
        "status",
        items=[["flash_size", 9], *([name, EVIL] for name in ("firmware", "mode", "reset", "model", "model_problem"))],
    )
    perceive(board)
    companion.client.post("/v1/people/approve", json={"who": "telegram:1", "name": "evil"})
    companion.client.post("/v1/people/rename", json={"who": "evil", "name": EVIL[:40]})
    return board


def perceive(board: Sent) -> None:
    """Let a board have a sense whose name and unit are markup, with readings of today."""
    with tempfile.TemporaryDirectory() as folder:
        perceiving = PerceivingBoard(board, Path(folder), int(time.time()) // 60 * 60 - 7200)
        perceiving.perceive('<b>"&/x', [20, 21, 20.5] * 40, unit="<i>&")
        perceiving.tell()


@pytest.fixture
def evil(browser: PageClient, kitchen: Sent) -> PageClient:
    """A browser beside a conversation in which each part is evil."""
    path = "/boards/kitchen/chat"
    browser.send(path, {"id": "page:evil", "text": EVIL}, seen=path)
    kitchen.offered(0)
    items = [[kind, EVIL] for kind in ("text", "notice", "line", "problem")]
    items.append(["report", json.dumps({"recalled": [["m1", 720], ["t1", 300], [EVIL, 5], [1, 2], "x"]})])
    kitchen.ask("reply", mid="page:evil", offer=1, k=1, items=[*items, ["end", "t3"]])
    kitchen.ask("push", mid="push:evil", room="page", text=EVIL)
    memory = "/boards/kitchen/memories/m1"
    fields = {"key": "0123abcd", "was": "1", "text": EVIL, "tags": "x"}
    for form, key, items in (
        ("edit", "00000001", [["report", '{"counts": {"changed meanwhile": 1}}']]),
        ("pin", "00000002", [["problem", f"companion.chat: {EVIL}"]]),
    ):
        assert browser.send(f"{memory}/{form}", fields | {"key": key}, seen=memory).status_code == 303
        kitchen.offered(0)
        kitchen.ask("reply", mid=f"memory:{form}:m1:{key}", offer=1, k=1, items=[*items, ["end", ""]])
    return browser


@in_one_case("path", VIEWS)
@in_one_case("language", ["en", "zh"])
def test_a_view_shows_evil_text_as_text(evil: PageClient, path: str, language: str):
    view = evil.open(f"{path}{'&' if '?' in path else '?'}lang={language}")
    check_is_own(view)
    assert "49" not in [word for word in view.words.split() if word == "49"]


def test_what_people_and_boards_wrote_is_shown_as_they_wrote_it(evil: PageClient):
    words = evil.open("/boards/kitchen/chat").words
    # The message, a notice, a line, a problem; what was remembered, and what was recalled with an id that is none.
    assert words.count(EVIL) == 8, words
    # And the session's title, the words that two hits have in common with it, and what is Markdown: the answer and a push.
    assert words.count("onerror=alert(1)") == 13, words
    assert EVIL in evil.open("/boards/kitchen").words


@in_one_case("path", [*VIEWS, *(path for path, _ in PROBLEMS)])
def test_each_view_has_the_headers_that_protect_it(evil: PageClient, path: str):
    answer = evil.http.get(path, follow_redirects=True)
    wanted = HEADERS if answer.headers["content-type"].startswith("text/html") else {}
    assert wanted.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()
    assert "'unsafe" not in POLICY and "default-src 'none'" in POLICY and "frame-ancestors 'none'" in POLICY


@in_one_case("path, status", PROBLEMS)
def test_what_goes_wrong_is_said_on_a_page_with_the_way_back(browser: PageClient, path: str, status: int):
    view = browser.open(path, status=status)
    check_is_own(view)
    assert {"href": "/"} in [dict(each) for each in view.all("a")]


@in_one_case("path", VIEWS)
def test_each_view_has_one_heading_of_the_first_order_and_labels(evil: PageClient, path: str):
    view = evil.open(path)
    names = [name for name, _ in view.elements]
    assert names.count("h1") == names.count("main") == 1
    levels = [int(name[1]) for name in names if name in ("h1", "h2", "h3", "h4", "h5", "h6")]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), levels
    labelled = {each["for"] for each in view.all("label")}
    for name in ("input", "select", "textarea"):
        for each in view.all(name):
            assert each.get("type") == "hidden" or each["id"] in labelled, each
    ids = [attributes["id"] for _, attributes in view.elements if "id" in attributes]
    assert len(ids) == len(set(ids)), ids
    assert next(view.all("html"))["lang"] == "en"


# --- sizes


def test_all_static_files_together_are_small():
    assert sum(len(content) for content, _ in Assets().files.values()) <= STATIC_BYTES


def test_a_static_file_is_kept_until_it_is_another(browser: PageClient):
    for name, (content, media) in Assets().files.items():
        answer = browser.http.get(f"/static/{name}")
        assert answer.content == content and answer.headers["content-type"] == media
        assert "immutable" in answer.headers["cache-control"] and "set-cookie" not in answer.headers
    folder = Path(str(resources.files("engram_host.companion.page"))) / "static"
    assert len(Assets().files) == len(list(folder.iterdir()))


def test_the_script_and_the_style_load_nothing_of_another_site():
    for name, (content, _) in Assets().files.items():
        addresses = re.findall(rb"""(?:https?:|["'(])//[^\s"')]+""", content)
        assert not [each for each in addresses if each != b"http://www.w3.org/2000/svg"], (name, addresses)


MANY = extent(1000, 150)


@pytest.mark.shortened
def test_a_view_of_very_many_boards_is_bounded_and_found_by_search(tmp_path: Path):
    with Companion(tmp_path / "home") as companion, closing(PageClient(companion.url)) as browser:
        for number in range(MANY):
            Sent(companion.posted, f"board-{number:04}", board=f"b{number}").hello()
        took: list[float] = []

        def look() -> httpx.Response:
            began = time.monotonic()
            found = browser.http.get("/?sort=-name")
            took.append(time.monotonic() - began)
            return found

        answer = [look() for _ in range(3)][-1]
        assert answer.status_code == 200 and len(answer.content) <= VIEW_BYTES and min(took) < 3, took
        assert len(gzip.compress(answer.content)) < VIEW_BYTES / 4
        view = Parsed(answer.text)
        assert f"{MANY:,} boards" in view.words and f"Page 1 of {MANY // 50}" in view.words
        assert f"board-{MANY - 1:04}" in view.words
        assert "board-0000" in browser.open(f"/?sort=-name&at={MANY // 50}").words
        assert "1 board" in browser.open("/?find=-0077").words
        assert "No board fits." in browser.open("/?find=%25").words


def test_a_long_conversation_is_shown_in_parts(companion: Companion, kitchen: Sent, browser: PageClient):
    board = Sent(companion.posted, "talker")
    board.sync()
    for number in range(12):
        mid = f"page:long{number}"
        path = "/boards/talker/chat"
        browser.send(path, {"id": mid, "text": f"question {number}"}, seen=path)
        board.offered(0)
        items = [["text", '"<答>&' * 600] for _ in range(3)]
        board.ask("reply", mid=mid, offer=1, k=1, items=[*items, ["end", "t3"]])
    seen: list[str] = []
    address = "/boards/talker/chat"
    for _ in range(20):
        answer = browser.http.get(address)
        assert len(answer.content) <= VIEW_BYTES
        view = Parsed(answer.text)
        seen += [each["data-mid"] for each in view.all("article")]
        linked = {each["href"] for each in view.all("a") if re.fullmatch(r"\?before=[^&]+", each["href"])}
        older = [each for each in linked if not address.endswith(each)]
        if not older:
            break
        address = f"/boards/talker/chat{older[0]}"
    assert sorted(seen) == sorted(f"page:long{number}" for number in range(12))
    whole = browser.http.get("/boards/talker/chat/message?id=page:long3")
    assert len(whole.content) <= VIEW_BYTES and "Only its beginning" in whole.text
