"""Photos and sounds on the page: thumbnails of a fixed size beside the text that names them."""

from collections.abc import Iterator
from contextlib import closing

import pytest

import media_samples as samples
from page_client import PageClient, Parsed
from peers import Companion
from sending import Sent
from view_checks import VIEW_BYTES

AT = 1795247156
EVIL = '"><img src=x onerror=alert(1)>'


class House:
    """A companion, its board, and the ids of what was sent."""

    def __init__(self, companion: Companion, board: Sent):
        self.companion, self.board = companion, board
        self.ids: dict[str, str] = {}

    def send(self, name: str, data: bytes, **query: str) -> str:
        answer = self.companion.client.post("/v1/boards/kitchen/media", content=data, params=query)
        self.ids[name] = answer.raise_for_status().json()["id"]
        return f"media/{self.ids[name]}"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with Companion(tmp_path_factory.mktemp("media") / "home") as companion:
        board = Sent(companion.posted, "kitchen", board="kitchen")
        board.say("hello", scope="user:owner")
        board.sync()
        house = House(companion, board)
        anns = house.send("ann", samples.png(1), principal="ann")
        bobs = house.send("bob", samples.png(2), principal="bob")
        groups = house.send("group", samples.OGG, principal="bob", group="true")
        board.say(f"[photo, {anns}] a fox {EVIL}", scope="user:ann", who="ann")
        board.say(f"[photo, {bobs}] I would like to see this", scope="user:ann", who="ann")
        board.say(f"[audio bell.ogg, {groups}] the bell", scope="all", who="bob")
        board.say(f"[photo, {bobs}]", scope="user:bob", who="bob")
        board.say("[photo, media/0123456789abcdef] gone", scope="user:ann", who="ann")
        for number in range(60):
            board.say(f"[photo, {anns}] {number} {'<' * 100}", scope="user:ann", who="ann", at=AT + 5 * 86400 + number)
            if number % 15 == 14:
                board.sync()
        board.sync()
        yield house


def images(view: Parsed) -> list[dict[str, str]]:
    return [dict(each) for each in view.all("img")]


def test_the_operator_sees_all_of_a_day_and_its_view_stays_within_its_bytes(house: House):
    with closing(PageClient(house.companion.url)) as browser:
        view = browser.open("/boards/kitchen/days/2026-11-21")
        assert [each["src"].rpartition("/")[2] for each in images(view)] == [
            house.ids[n] for n in ("ann", "bob", "bob")
        ]
        photo = images(view)[0]
        assert (photo["width"], photo["height"], photo["loading"]) == ("96", "96", "lazy")
        assert photo["alt"] == f"a fox {EVIL}" and images(view)[2]["alt"] == "photo" and "sound: the bell" in view.words
        assert browser.http.get(photo["src"]).content == samples.png(1)
        html = browser.http.get("/boards/kitchen/days/2026-11-26").text
        assert len(images(Parsed(html))) > 15 and len(html.encode()) <= VIEW_BYTES


def test_a_message_of_the_chat_stands_with_its_photo(house: House):
    reference = house.send("owner", samples.JPEG)
    with closing(PageClient(house.companion.url)) as browser:
        path = "/boards/kitchen/chat"
        browser.send(path, {"id": "page:photo", "text": f"[photo, {reference}] what is this?"}, seen=path)
        (photo,) = images(browser.open(path))
        assert (photo["src"], photo["alt"]) == (f"/v1/boards/kitchen/{reference}", "what is this?")
