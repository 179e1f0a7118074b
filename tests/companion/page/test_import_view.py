"""Import and export on the page: the form with a file, its preview in pages, start, discard, downloads."""

import json
import re
from collections.abc import Callable

import httpx
import pytest

from one_case import in_one_case
from page_client import PageClient, Parsed
from sending import Sent
from view_checks import EVIL, VIEW_BYTES, check_is_own

HOSTILE = "\"<&'" * 400


@pytest.fixture
def kitchen(board: Callable[..., Sent]) -> Sent:
    made = board()
    made.keep("the kettle is red", tags=["kitchen"])
    made.sync()
    return made


def send_file(browser: PageClient, kitchen: Sent, content: bytes, name: str = "in.jsonl") -> httpx.Response:
    """Choose a file in the form, and send it."""
    path = f"/boards/{kitchen.device}/import"
    return browser.send(path, {}, seen=path, files={"file": (name, content, "application/octet-stream")})


def previewed(browser: PageClient, kitchen: Sent, content: bytes, name: str = "in.jsonl") -> str:
    """The address of a file's preview."""
    answer = send_file(browser, kitchen, content, name)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def test_a_file_is_shown_line_by_line_before_anything_is_sent(browser: PageClient, kitchen: Sent):
    lines = [{"content": EVIL, "tags": [EVIL[:20]]}, {"content": ""}, {EVIL: 1, "content": "x"}]
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    address = previewed(browser, kitchen, content, f"{EVIL}.jsonl".replace("/", ""))
    view = browser.open(address)
    check_is_own(view)
    words = view.words
    assert "Nothing has been sent to the board yet." in words and "new: 2" in words and "refused: 1" in words
    assert EVIL in words and "must be a text that is not empty" in words and "<img src=x onerr" in words
    assert kitchen.offered(0)["op"] == "quiet"
    refused = browser.open(f"{address}?outcome=refused").words
    assert "must be a text" in refused and EVIL not in refused.split("Becomes")[1]


def test_a_long_preview_comes_in_pages_of_bounded_bytes(browser: PageClient, kitchen: Sent):
    content = "".join(json.dumps({"content": f"{HOSTILE} {number}"}) + "\n" for number in range(120)).encode()
    path = previewed(browser, kitchen, content)
    address, seen = path, []
    while address:
        answer = browser.http.get(address)
        assert answer.status_code == 200 and len(answer.content) <= VIEW_BYTES
        view = Parsed(answer.text)
        seen += re.findall(r"(\d+)new", view.words)
        following = [each["href"] for each in view.all("a") if each.get("rel") == "next"]
        address = path + following[0] if following else ""
    assert seen == [str(number) for number in range(1, 121)]


def test_a_preview_is_discarded(browser: PageClient, kitchen: Sent):
    address = previewed(browser, kitchen, b'{"content":"tea"}\n')
    path = f"/boards/{kitchen.device}/import"
    assert address in [each["href"] for each in browser.open(path).all("a")]
    answer = browser.send(address, {"action": "cancel"}, seen=address)
    assert answer.headers["location"] == path
    browser.open(address, status=404)
    assert address not in [each["href"] for each in browser.open(path).all("a")]


@in_one_case("content, why", [(b"", "nothing to import"), (b"x" * 1_000_001, "at most 1000000")])
def test_a_file_that_is_none_is_refused_in_a_sentence(browser: PageClient, kitchen: Sent, content: bytes, why: str):
    answer = send_file(browser, kitchen, content)
    assert answer.status_code == 422 and why in answer.text


def test_without_the_csrf_token_nothing_is_taken_or_started(browser: PageClient, kitchen: Sent):
    address = previewed(browser, kitchen, b'{"content":"tea"}\n')
    path = f"/boards/{kitchen.device}/import"
    assert browser.send(path, {}, files={"file": ("a", b"{}")}).status_code == 403
    assert browser.send(address, {"action": "start"}).status_code == 403
    assert "Nothing has been sent" in browser.open(address).words


def test_an_export_is_a_download_with_the_boards_name(browser: PageClient, kitchen: Sent):
    view = browser.open(f"/boards/{kitchen.device}/import")
    links = [each["href"] for each in view.all("a") if "download" in each]
    assert len(links) == 2
    for link in links:
        answer = browser.http.get(link)
        assert answer.headers["content-disposition"] == f'attachment; filename="{kitchen.device}.jsonl"'
        assert "the kettle is red" in answer.text and "engram_export_end" in answer.text
