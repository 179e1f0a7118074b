"""The page /docs: all that the API offers stands in it, and nothing of it comes from elsewhere or runs."""

import base64
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest

from engram_host.companion.api.docs_page import render_page
from one_case import in_one_case
from peers import Companion

_VOID = ("meta",)
_LOADS = ("script", "link", "img", "iframe", "object", "embed", "form", "base", "video", "audio", "source")


class _Page(HTMLParser):
    """Tags, attributes and text of a page whose tags all end."""

    def __init__(self, html: str):
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.style = self.text = ""
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "style")]
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            self.style += data
        else:
            self.text += data + "\n"


@pytest.fixture(scope="module")
def answer(companion: Companion) -> httpx.Response:
    return httpx.get(companion.url + "/docs")


@pytest.fixture(scope="module")
def described(companion: Companion) -> dict[str, Any]:
    return companion.client.get("/openapi.json").json()


def _operations(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            yield f"{method.upper()} {path}", told


def test_each_route_is_reported_of_with_its_parameters_and_answers(answer: httpx.Response, described: dict[str, Any]):
    sections = answer.text.split("<section ")
    found = {
        re.findall(r"<code>(.*?)</code>", section)[0]: _Page(
            "<section " + section.partition("</section>")[0] + "</section>"
        ).text
        for section in sections[1:]
    }
    for name, told in _operations(described):
        for parameter in told.get("parameters", []):
            assert parameter["name"] in found[name].split("\n")
        for status, each in told["responses"].items():
            assert status in found[name].split("\n") and each["description"] in found[name]


def test_each_form_is_reported_of_with_its_fields(answer: httpx.Response, described: dict[str, Any]):
    found = _Page(answer.text)
    for name, schema in described["components"]["schemas"].items():
        assert f"form-{name}" in found.ids
        assert set(schema.get("properties", {})) <= set(found.text.split("\n"))


def test_nothing_runs_and_nothing_comes_from_elsewhere(answer: httpx.Response):
    found = _Page(answer.text)
    assert not set(found.tags) & set(_LOADS) and "@import" not in found.style and "url(" not in found.style
    assert {link for link in found.links if not link.startswith("#")} == {"/openapi.json"}
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))


def test_the_policy_lets_the_browser_do_no_more_than_show_it(answer: httpx.Response):
    parts = (part.strip().partition(" ") for part in answer.headers["Content-Security-Policy"].split(";"))
    policy = {name: sources for name, _, sources in parts}
    digest = base64.b64encode(hashlib.sha256(_Page(answer.text).style.encode()).digest()).decode()
    assert policy["default-src"] == "'none'" and policy["style-src"] == f"'sha256-{digest}'"
    assert {policy[name] for name in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}


@in_one_case("path", ["/redoc", "/docs/oauth2-redirect"])
def test_the_pages_that_load_scripts_from_elsewhere_are_gone(companion: Companion, path: str):
    assert companion.client.get(path).status_code == 404


def test_what_stands_in_the_description_is_shown_as_text():
    told = {"description": "<script>alert(1)</script>", "responses": {"200": {"description": "<b>"}}}
    info = {"title": "<i>", "version": "1", "description": "<img src=x>"}
    assert set(_Page(render_page({"info": info, "paths": {"/<u>": {"get": told}}})).tags) <= {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "a", "ul", "li", "section", "code"),
        *("table", "tr", "th", "td"),
    }
