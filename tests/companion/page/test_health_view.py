"""Health on the page: what does not work is said with what to do, and the API has the same checks."""

from contextlib import closing
from pathlib import Path

from cli_case import engram
from engram_host.companion.diagnosis.checks import check_companion
from engram_host.companion.settings import read_settings
from page_client import PageClient
from peers import Companion
from waiting import wait_until


def test_a_companion_that_works_says_so(companion: Companion):
    with closing(PageClient(companion.url)) as browser:
        words = browser.open("/health").words
    assert "disk" in words and "clock" in words and "SQLite" in words and "replication" in words


def test_a_file_that_others_can_read_is_named_with_what_to_do(companion: Companion):
    token = companion.home / "operator.token"
    token.chmod(0o644)
    with closing(PageClient(companion.url)) as browser:
        words = browser.open("/health").words
        checks = companion.client.get("/v1/checks").json()
    assert f"chmod 600 {token}" in words
    assert [each["advice"] for each in checks if each["state"] == "wrong"] == [f"chmod 600 {token}"]


def test_a_bridge_that_is_stopped_is_shown_with_its_reason_and_read_again(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "companion.toml").write_text('[bridges.tele]\nnetwork = "telegram"\n')
    with Companion(home) as companion, closing(PageClient(companion.url)) as browser:
        (shown,) = wait_until(
            "it is stopped",
            lambda: [each for each in companion.client.get("/v1/bridges").json() if each["state"] == "stopped"],
        )
        words = browser.open("/health").words
        assert shown["name"] == "tele" and shown["reason"] in words and "stopped" in words
        assert "something does not work" in words and "tele" in words
        assert browser.send("/health/reload", {}, seen="/health").headers["location"] == "/health#bridges"


def test_the_doctor_finds_at_least_what_the_companion_finds_of_itself(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    inside = {each.name for each in check_companion(read_settings(home, {}))}
    outside = {each["name"] for each in engram("doctor", "--home", home, "--json").json["checks"]}
    assert inside <= outside


def test_what_checks_find_is_said_in_chinese_too_while_the_api_keeps_its_english(companion: Companion):
    (companion.home / "operator.token").chmod(0o644)
    with closing(PageClient(companion.url)) as browser:
        words = browser.open("/health?lang=zh").words
        details = [each["detail"] for each in companion.client.get("/v1/checks").json()]
    assert f"其他用户可以读取 {companion.home / 'operator.token'}" in words
    assert not [each for each in details if " " in each and each in words and not each.startswith(("/", "20"))]
