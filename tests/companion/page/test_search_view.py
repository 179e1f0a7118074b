"""Search on the page: hits with bars and links, lines in their place, pages of hits."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from engram_host.companion.page.page import PART
from markdown_folders import write
from one_case import in_one_case
from page_client import PageClient, Parsed
from peers import Companion
from sending import Sent
from view_checks import VIEW_BYTES
from waiting import wait_until

HOSTILE = "\"<&'" * 500


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion with two boards and a Markdown folder, without vectors."""
    folder = tmp_path_factory.mktemp("search")
    lines = [f"line {number}" for number in range(1, 30)]
    lines[11] = "the zebrafinch lives in the blue house"
    lines[12] = f"beside it {HOSTILE}"
    write(folder / "notes", {"birds.md": "\n".join(lines) + "\n"})
    variables = {"ENGRAM_FOLDERS": str(folder / "notes"), "ENGRAM_EMBEDDING_PROVIDER": "none"}
    with Companion(folder / "home", **variables) as companion:
        kitchen = Sent(companion.posted, "kitchen")
        kitchen.keep("Ann drinks green tea", tags=["drinks"])
        kitchen.keep("Ann drinks coffee now", tags=["drinks"], supersedes="m1")
        kitchen.keep("the kettle is broken", tags=["things"], expires=1)
        kitchen.keep("Bob's secret tea", scope="user:bob")
        kitchen.say("do you have any tea left?")
        for number in range(25):
            kitchen.keep(f"{HOSTILE} the parrot number {number}")
            kitchen.sync()  # more of such long lines would not fit into one message
        kitchen.sync()
        shed = Sent(companion.posted, "shed", board="b2", zone=90)
        shed.keep("tea for the shed")
        shed.sync()
        wait_until("the folder is read", lambda: companion.client.get("/v1/folders").json()[0]["progress"]["passages"])
        yield companion


@pytest.fixture
def browser(searched: Companion) -> Iterator[PageClient]:
    with closing(PageClient(searched.url)) as client:
        client.open("/search")
        yield client


def hits(view: Parsed) -> list[str]:
    """The links of what was found."""
    links = [each["href"] for each in view.all("a")]
    return [each for each in links if "/memories/" in each or "/days?turn=" in each or "/search/file" in each]


def test_a_search_of_all_boards_names_each_ones_hits_with_links(browser: PageClient):
    view = browser.open("/search?q=tea")
    assert set(hits(view)) == {"/boards/kitchen/days?turn=t1", "/boards/shed/memories/m1"}
    assert "Bob's secret" not in view.words


@in_one_case("path", ["/search?q=tea", "/boards/shed/search?q=tea"])
def test_the_time_of_a_hit_has_its_boards_zone(browser: PageClient, path: str):
    zones = {each.get("data-zone") for each in browser.open(path).all("time")}
    assert "90" in zones and None not in zones


def test_a_search_of_one_board_finds_that_ones_alone(browser: PageClient):
    assert hits(browser.open("/boards/shed/search?q=tea")) == ["/boards/shed/memories/m1"]


def test_history_and_tags_are_filters(browser: PageClient):
    found = hits(browser.open("/boards/kitchen/search?q=Ann drinks&history=true&tag=drinks"))
    assert set(found) == {"/boards/kitchen/memories/m1", "/boards/kitchen/memories/m2"}
    assert hits(browser.open("/boards/kitchen/search?q=Ann drinks&tag=drinks")) == ["/boards/kitchen/memories/m2"]


def test_days_are_filters_in_the_boards_zone(browser: PageClient):
    path = "/boards/shed/search?q=tea"
    assert hits(browser.open(f"{path}&since=2026-11-21&until=2026-11-21"))
    assert not hits(browser.open(f"{path}&since=2026-11-22"))
    assert not hits(browser.open(f"{path}&until=2026-11-20"))


def test_the_parts_of_a_score_are_bars_that_add_up_to_it(browser: PageClient):
    answer = browser.http.get("/boards/shed/search?q=tea", headers={PART: "1"})
    view = Parsed(answer.text)
    bars = [each for each in view.all("meter") if each["max"] not in ("1", "1.2")]
    assert "the word tea" in view.words and len(bars) >= 1
    score = float(view.words.split("Score ")[1].split(",")[0])
    assert sum(float(each["value"]) for each in bars) == pytest.approx(score, abs=0.02)


def test_a_search_says_how_sure_it_is(browser: PageClient):
    view = browser.open("/search?q=zebra tea zeppelin hydrogen explosion volcano comet planet glacier")
    assert "Nothing certain was found" in view.words
    whole = browser.open("/boards/kitchen/search?q=Ann drinks coffee now").words
    assert "An answer is likely" in whole or "At most a weak answer" in whole


def test_nothing_found_says_why(browser: PageClient):
    words = browser.open("/search?q=xylophone").words
    assert "Nothing was found:" in words and "none of the words (xylophone)" in words


def test_without_a_query_the_view_says_what_to_do(browser: PageClient):
    assert "Type what you are looking for" in browser.open("/search").words


def test_the_script_gets_what_is_found_alone(browser: PageClient):
    answer = browser.http.get("/search?q=tea", headers={PART: "1"})
    assert answer.text.startswith('<div id="results" data-summary="2 hits shown"') and "<html" not in answer.text


def test_lines_of_a_file_stand_in_their_place(browser: PageClient):
    view = browser.open("/search?q=zebrafinch")
    (link,) = hits(view)
    assert link.startswith("/search/file?path=notes/birds.md&from=12")
    assert {each["start"] for each in view.all("ol") if each["class"] == "lines"} == {"10"}
    assert "line 10" in view.words and "line 16" in view.words and "line 17" not in view.words
    file = browser.open(link)
    assert "the zebrafinch lives" in file.words and "line 11" not in file.words and "line 29" in file.words
    assert "line 1\n" in browser.open("/search/file?path=notes/birds.md").words


def test_hits_come_in_pages_of_bounded_bytes(browser: PageClient):
    address = "/boards/kitchen/search?q=parrot"
    seen: list[str] = []
    for _ in range(30):
        answer = browser.http.get(address)
        assert len(answer.content) <= VIEW_BYTES
        view = Parsed(answer.text)
        seen += hits(view)
        following = [each["href"] for each in view.all("a") if each.get("rel") == "next"]
        if not following:
            break
        address = "/boards/kitchen/search" + following[0]
    assert len(seen) == 25 and len(set(seen)) == 25


def test_a_long_file_is_shown_in_parts_of_bounded_bytes(browser: PageClient):
    answer = browser.http.get("/search/file?path=notes/birds.md&from=13")
    assert len(answer.content) <= VIEW_BYTES and "Lines before" in answer.text
