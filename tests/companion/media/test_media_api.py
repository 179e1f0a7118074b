"""Photos and sounds over HTTP: who may send and read them, headers, hostile requests, backups."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import media_samples as samples
from device_tokens import make_tokens
from engram_host.companion.auth import tokens
from one_case import in_one_case
from peers import Companion
from sending import Sent
from server_process import PLAIN

PHOTO = samples.png(7)


class House:
    """A companion that asks for tokens, with two boards."""

    def __init__(self, companion: Companion, made: dict[str, str]):
        self.companion, self.home = companion, companion.home
        self.tokens = made | {"operator": (companion.home / tokens.OPERATOR_FILE).read_text().strip(), "": ""}

    def ask(self, method: str, path: str, who: str = "operator", **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        more["headers"] = headers | more.get("headers", {})
        return httpx.request(method, f"{self.companion.url}/v1/boards/{path}", timeout=30, verify=PLAIN, **more)

    def send(self, data: bytes = PHOTO, who: str = "operator", board: str = "kitchen", **query: Any) -> dict[str, Any]:
        answer = self.ask("POST", f"{board}/media", who, content=data, params=query)
        assert answer.status_code == 201, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    home = tmp_path_factory.mktemp("house") / "home"
    made = make_tokens(home, "kitchen", "garden")
    home.joinpath("companion.toml").write_text("[media]\nmegabytes = 1\nboard_megabytes = 2\nboard_count = 5\n")
    with Companion(home, ENGRAM_TOKENS="on") as companion:
        for device in made:
            board = Sent(companion.posted, device, board=device)
            board.say("hello")
            board.sync()
        yield House(companion, made)


def test_what_is_sent_comes_back_with_the_type_of_its_bytes_and_headers_that_let_nothing_run(house: House):
    headers = {"Content-Type": "text/html"}
    sent = house.ask("POST", "kitchen/media", content=PHOTO, headers=headers).json()
    assert (sent["type"], sent["size"], sent["scope"]) == ("image/png", len(PHOTO), "user:owner")
    answer = house.ask("GET", f"kitchen/media/{sent['id']}")
    assert answer.content == PHOTO and answer.headers["content-type"] == "image/png"
    assert answer.headers["content-disposition"] == f'inline; filename="kitchen-{sent["id"]}.png"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["cache-control"] == "no-store"


def test_a_board_sends_with_its_own_token_and_to_itself_only(house: House):
    assert house.send(who="kitchen")["scope"] == "user:owner"
    assert house.ask("POST", "kitchen/media", "garden", content=PHOTO).status_code == 403
    assert house.ask("POST", "kitchen/media", "", content=PHOTO).status_code == 401


def test_only_the_operator_reads_and_deletes(house: House):
    media = house.send()["id"]
    one = f"kitchen/media/{media}"
    for method, path in (("GET", "kitchen/media"), ("GET", one), ("DELETE", one)):
        assert house.ask(method, path, "kitchen").status_code == 403
        assert house.ask(method, path, "").status_code == 401
    assert house.ask("DELETE", f"kitchen/media/{media}").status_code == 204
    assert house.ask("GET", f"kitchen/media/{media}").status_code == 404


@in_one_case("who", ["a\nb", "x" * 65, ""])
def test_a_principal_that_no_board_takes_is_refused(house: House, who: str):
    assert house.ask("POST", "kitchen/media", content=PHOTO, params={"principal": who}).status_code == 422


def test_too_many_bytes_are_refused_whatever_the_request_says_of_them(house: House):
    large = PHOTO + bytes(1 << 20)
    answer = house.ask("POST", "kitchen/media", content=large)
    assert answer.status_code == 422 and "media.megabytes" in answer.json()["problem"]

    def pieces() -> Iterator[bytes]:
        for at in range(0, len(large), 65536):
            yield large[at : at + 65536]

    answer = house.ask("POST", "kitchen/media", content=pieces())
    assert answer.status_code == 422 and "media.megabytes" in answer.json()["problem"]
    assert house.ask("POST", "kitchen/imports", content=bytes(2 << 20)).status_code == 413, "other routes take no more"


@in_one_case(
    "path",
    [
        *("kitchen/media/..%2f..%2fcompanion.db", "kitchen/media/%2e%2e", "kitchen/media/0123456789abcdeF"),
        *("kitchen/media/0123456789abcde", "kitchen/media/0123456789abcdef0", "kitchen/media/%00"),
        *("kitchen/media/0123456789abcdef", "attic/media", "attic/media/0123456789abcdef", "Kit%2e/media"),
    ],
)
def test_what_is_no_id_leads_nowhere(house: House, path: str):
    answer = house.ask("GET", path)
    assert answer.status_code in (404, 422) and answer.json()["problem"]
