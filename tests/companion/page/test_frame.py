"""What each view has around it, as far as HTTP goes: colours, the state of the session, headers of all answers."""

from contextlib import closing
from pathlib import Path

from engram_host.companion.auth import tokens
from engram_host.companion.page.formatting import time_tag
from engram_host.companion.page.page import THEMES
from engram_host.time_zones import BoardZone
from one_case import in_one_case
from page_client import PageClient
from peers import Companion


@in_one_case("theme", THEMES)
def test_a_browser_keeps_the_colours_that_were_chosen(browser: PageClient, theme: str):
    assert next(browser.open(f"/?theme={theme}").all("html"))["data-theme"] == theme
    assert next(browser.open("/chat?find=x").all("html"))["data-theme"] == theme
    assert next(browser.open("/chat?theme=evil").all("html"))["data-theme"] == theme


def test_a_link_to_other_colours_keeps_what_is_looked_for(browser: PageClient):
    links = [each["href"] for each in browser.open("/?find=kit&sort=-name").all("a") if "theme=" in each["href"]]
    assert links == [f"?find=kit&sort=-name&theme={theme}" for theme in THEMES]


def test_a_browser_learns_whether_it_is_signed_in(tmp_path: Path):
    home = tmp_path / "home"
    with Companion(home, ENGRAM_TOKENS="on") as companion, closing(PageClient(companion.url)) as browser:
        assert browser.http.get("/session").status_code == 401
        browser.send("/signin", {"token": (home / tokens.OPERATOR_FILE).read_text().strip()}, seen="/signin")
        assert browser.http.get("/session").status_code == 204
        browser.send("/signout", {}, seen="/signout")
        assert browser.http.get("/session").status_code == 401
        asked = [each["action"] for each in companion.client.get("/v1/audit").json()]
    assert asked and "GET /session" not in asked


def test_without_tokens_everybody_is_signed_in(browser: PageClient):
    assert browser.http.get("/session").status_code == 204


@in_one_case("path", ["/", "/session", "/v1/devices", "/v1/alive", "/docs", "/openapi.json", "/nothing"])
def test_no_answer_can_be_used_by_a_page_of_another_origin(browser: PageClient, path: str):
    headers = browser.http.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_a_time_tells_a_boards_daylight_saving_to_the_script():
    zone = BoardZone(60, "CET-1CEST,M3.5.0,M10.5.0/3")
    summer, winter = time_tag(1_792_285_200, zone), time_tag(1_800_000_000, zone)
    assert 'data-zone="120"' in summer and "+0200" in summer
    assert 'data-zone="60"' in winter and "+0100" in winter


def test_a_time_tells_the_boards_zone_to_the_script():
    there = time_tag(1_778_925_600, BoardZone(120))
    assert 'data-zone="120"' in there and "12:00 +0200" in there
    assert "data-zone" not in time_tag(1_778_925_600) and "2026-05-16 10:00 UTC" in time_tag(1_778_925_600)
    assert time_tag(1 << 60, BoardZone(60, "CET-1CEST,M3.5.0,M10.5.0/3")) == ""
