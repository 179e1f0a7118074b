"""All pages: their links lead somewhere, their examples can be read, and they hold nothing that belongs elsewhere."""

import ast
import json
import re

from one_case import in_one_case
from pages import PAGES, ROOT, fences, headings, read, without_fences

_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
OPERATING = "docs/guides/operating.md"
_OF_SERVER = re.compile(r"/(?:var/lib|var/backups|opt)/engram\b|/var/log/engram\.log|/tmp/drill\b")
"""Where the files of deploy/ put a service, on every server alike."""

_MACHINE = re.compile(r"(?<![\w.~])/(?:work|home|root|tmp|usr|opt|var|mnt|Users)\b")
INDEX = "docs/README.md"
_UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|TBD)\b")


def _anchors(page: str) -> set[str]:
    """The anchors that a page's headings make, as code hosts build them."""
    titles = [title for rank in range(1, 5) for title in headings(read(page), rank)]
    return {re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in titles}


@in_one_case("page", PAGES)
def test_links_lead_to_a_file_and_a_heading(page):
    for link in _LINK.findall(without_fences(read(page))):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        assert target.is_file(), link
        assert not anchor or anchor in _anchors(str(target.resolve().relative_to(ROOT))), link


@in_one_case("page", PAGES)
def test_the_index_leads_to_every_page(page):
    linked = {link.partition("#")[0] for link in _LINK.findall(read(INDEX))}
    assert not page.startswith("docs/") or page == INDEX or page.removeprefix("docs/") in linked


@in_one_case("page", PAGES)
def test_json_examples_are_json(page):
    for fence in fences(read(page), "json"):
        try:
            json.loads(fence.text)
        except ValueError as problem:
            raise AssertionError(f"{page}:{fence.line}: {problem}") from None


@in_one_case("page", PAGES)
def test_python_examples_are_python(page):
    for fence in fences(read(page), "python"):
        if not fence.text.startswith(">>>"):
            ast.parse("async def example():\n" + "".join(f" {line}\n" for line in fence.text.splitlines()))


@in_one_case("page", PAGES)
def test_nothing_of_one_machine_and_nothing_unfinished_is_left(page):
    for number, line in enumerate(read(page).splitlines(), 1):
        own = _OF_SERVER.sub("", line) if page == OPERATING else line
        assert not _MACHINE.search(own), f"{page}:{number}: {line}"
        assert not _UNFINISHED.search(line), f"{page}:{number}: {line}"
