"""A browser as far as HTTP goes: it keeps cookies, says where its requests come from, and sends forms with what they have."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import httpx

from server_process import PLAIN


class Parsed(HTMLParser):
    """The elements of a view, as (name, attributes), and its text."""

    def __init__(self, html: str):
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[str] = []
        self.words = ""
        self._is_script = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._is_script = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._is_script = False

    def handle_data(self, data: str) -> None:
        if self._is_script:
            self.scripts.append(data)
        else:
            self.words += data

    def all(self, name: str) -> Iterator[dict[str, str]]:
        """The attributes of all elements of a name."""
        return (attributes for tag, attributes in self.elements if tag == name)

    def field(self, name: str) -> str:
        """The value of the first hidden field of a name."""
        return next(each.get("value", "") for each in self.all("input") if each.get("name") == name)


class PageClient:
    """A browser that looks at a companion."""

    def __init__(self, url: str, language: str = "en"):
        self.url = url
        headers = {"Accept": "text/html,*/*;q=0.8", "Accept-Language": language}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=30, verify=PLAIN)

    def open(self, path: str, status: int = 200, **more: Any) -> Parsed:
        """A view, after all redirects."""
        answer = self.http.get(path, follow_redirects=True, **more)
        assert answer.status_code == status, (path, answer.status_code, answer.text[:500])
        return Parsed(answer.text)

    def send(self, path: str, fields: dict[str, str], *, seen: str = "", **more: Any) -> httpx.Response:
        """Send a form that stands in the view `seen`, with its CSRF token, as a browser does."""
        hidden = {"csrf": self.open(seen).field("csrf")} if seen else {}
        return self.http.post(
            path, data=hidden | fields, headers={"Origin": self.url} | more.pop("headers", {}), **more
        )

    def follow_link(self, path: str, status: int = 200, **more: Any) -> Parsed:
        """Sign in by a link, as by the button of the view that it leads to; the view that comes then."""
        form = self.open(path, **more)
        fields = {name: form.field(name) for name in ("csrf", "code", "next")}
        answer = self.send("/signin", fields, follow_redirects=True)
        assert answer.status_code == status, (path, answer.status_code, answer.text[:500])
        return Parsed(answer.text)

    def close(self) -> None:
        self.http.close()
