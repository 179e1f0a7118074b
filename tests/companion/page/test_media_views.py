"""Photos and sounds on the page: thumbnails of a fixed size beside the text that names them, for who may see them only."""

from collections.abc import Iterator
from contextlib import closing

import pytest

import media_samples as samples
from engram_host.companion.auth import tokens
from page_client import PageClient, Parsed
from peers import Companion
from personal_companion import approve, open_page_of, personal_companion
from sending import Sent
from view_checks import VIEW_BYTES

AT = 1795247156
EVIL = '"><img src=x onerror=alert(1)>'


class House:
    """A companion that asks for tokens, its board, and the ids of what was sent."""

    def __init__(self, companion: Companion, board: Sent):
        self.companion, self.board = companion, board
        self.ids: dict[str, str] = {}

    def send(self, name: str, data: bytes, **query: str) -> str:
        answer = self.companion.client.post("/v1/boards/kitchen/media", content=data, params=query)
        self.ids[name] = answer.raise_for_status().json()["id"]
        return f"media/{self.ids[name]}"

    def opened(self, who: str) -> PageClient:
        return open_page_of(self.companion, who)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with personal_companion(tmp_path_factory.mktemp("media") / "home") as companion:
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
        approve(companion, "ann", "bob")
        yield house


@pytest.fixture
def ann(house: House) -> Iterator[PageClient]:
    with closing(house.opened("ann")) as browser:
        yield browser


def images(view: Parsed) -> list[dict[str, str]]:
    return [dict(each) for each in view.all("img")]


def test_a_person_sees_their_photos_and_links_to_sounds_of_groups_and_no_photo_of_others(house: House, ann: PageClient):
    view = ann.open("/me/boards/kitchen/days?day=2026-11-21")
    (photo,) = images(view)
    assert photo["src"] == f"/me/boards/kitchen/media/{house.ids['ann']}"
    assert (photo["width"], photo["height"], photo["loading"]) == ("96", "96", "lazy")
    assert photo["alt"] == f"a fox {EVIL}"
    assert "sound: the bell" in view.words
    assert house.ids["bob"] not in str(view.elements)


def test_a_person_opens_what_they_may_see_and_nothing_else(house: House, ann: PageClient):
    answer = ann.http.get(f"/me/boards/kitchen/media/{house.ids['ann']}")
    assert answer.content == samples.png(1) and answer.headers["content-type"] == "image/png"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert ann.http.get(f"/me/boards/kitchen/media/{house.ids['group']}").content == samples.OGG
    assert ann.http.get(f"/me/boards/kitchen/media/{house.ids['bob']}").status_code == 404
    assert ann.http.get(f"/v1/boards/kitchen/media/{house.ids['ann']}").status_code == 403
    assert ann.http.get(f"/me/boards/attic/media/{house.ids['ann']}").status_code == 404
    with closing(PageClient(house.companion.url)) as stranger:
        for path in (f"/me/boards/kitchen/media/{house.ids['ann']}", f"/v1/boards/kitchen/media/{house.ids['ann']}"):
            assert stranger.http.get(path).status_code in (303, 401)


def test_the_operator_sees_all_of_a_day_and_its_view_stays_within_its_bytes(house: House):
    with closing(PageClient(house.companion.url)) as browser:
        browser.send("/signin", {"token": (house.companion.home / tokens.OPERATOR_FILE).read_text().strip()})
        view = browser.open("/boards/kitchen/days/2026-11-21")
        assert [each["src"].rpartition("/")[2] for each in images(view)] == [
            house.ids[n] for n in ("ann", "bob", "bob")
        ]
        assert images(view)[2]["alt"] == "photo"
        assert browser.http.get(images(view)[0]["src"]).content == samples.png(1)
        html = browser.http.get("/boards/kitchen/days/2026-11-26").text
        assert len(images(Parsed(html))) > 15 and len(html.encode()) <= VIEW_BYTES


def test_a_persons_day_of_photos_stays_within_its_bytes(house: House, ann: PageClient):
    html = ann.http.get("/me/boards/kitchen/days?day=2026-11-26").text
    assert len(images(Parsed(html))) == 40 and len(html.encode()) <= VIEW_BYTES


def test_one_turn_stands_with_its_photo(house: House, ann: PageClient):
    (photo,) = images(ann.open("/me/boards/kitchen/entries/t2"))
    assert photo["src"].endswith(house.ids["ann"])


def test_a_message_of_the_chat_stands_with_its_photo(house: House):
    reference = house.send("owner", samples.JPEG)
    with closing(PageClient(house.companion.url)) as browser:
        browser.send("/signin", {"token": (house.companion.home / tokens.OPERATOR_FILE).read_text().strip()})
        path = "/boards/kitchen/chat"
        browser.send(path, {"id": "page:photo", "text": f"[photo, {reference}] what is this?"}, seen=path)
        (photo,) = images(browser.open(path))
        assert (photo["src"], photo["alt"]) == (f"/v1/boards/kitchen/{reference}", "what is this?")
