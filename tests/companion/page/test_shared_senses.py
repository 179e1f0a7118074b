"""Readings on the page of a person: of senses that their board shares, and of no others; over the API as well."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engram_host.companion.store import CompanionStore
from one_case import in_one_case
from page_client import PageClient
from peers import Companion
from perceiving_board import PerceivingBoard, add_anomaly, posted_to
from personal_companion import approve, open_page_of, personal_companion
from sending import Sent
from view_checks import VIEW_BYTES, check_is_own


class House:
    """A companion that asks for tokens, and a board with a sense that it shares and one that it does not."""

    def __init__(self, companion: Companion, board: PerceivingBoard):
        self.companion, self.board = companion, board

    def opened(self, who: str) -> PageClient:
        return open_page_of(self.companion, who)

    def names(self, who: str) -> list[str]:
        answer = self.companion.client.get(f"/v1/people/{who}/boards/kitchen/senses")
        return [each["name"] for each in answer.raise_for_status().json()]

    def status(self, who: str, sense: str) -> int:
        return self.companion.client.get(f"/v1/people/{who}/boards/kitchen/senses/{sense}/readings").status_code


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with personal_companion(tmp_path_factory.mktemp("shared") / "home") as companion:
        board = PerceivingBoard(Sent(companion.posted), tmp_path_factory.mktemp("flash"))
        board.perceive("garden air", [20 + at % 7 / 10 for at in range(120)], unit="°C")
        board.perceive("bed", [0, 1, 1, 0])
        board.shared = {"garden air"}
        board.tell()
        add_anomaly(companion.home, "garden air", board.now - 600, 0, 261)
        approve(companion, "ann", "eve")
        companion.client.post("/v1/people/owner", json={"who": "eve"}).raise_for_status()
        yield House(companion, board)


@pytest.fixture
def ann(house: House) -> Iterator[PageClient]:
    with closing(house.opened("ann")) as browser:
        yield browser


def test_a_person_sees_the_plot_of_a_shared_sense_and_nothing_of_others(house: House, ann: PageClient):
    assert "Readings of kitchen" in ann.open("/me").words
    answer = ann.http.get("/me/boards/kitchen/senses?days=3660")
    view = ann.open("/me/boards/kitchen/senses?days=3660")
    assert "garden air" in view.words and "20.6 °C" in view.words
    assert "bed" not in view.words
    check_is_own(view)
    assert len(answer.content) <= VIEW_BYTES


def test_a_person_sees_the_figures_of_a_shared_sense_without_its_events(house: House, ann: PageClient):
    view = ann.open("/me/boards/kitchen/senses/garden%20air?days=3660")
    assert "20.3 °C" in view.words and "above a limit" not in view.words and "Events" not in view.words


@in_one_case("name", ["bed", "BED", "attic", "bed%2f..%2fgarden air"])
def test_a_sense_that_is_not_shared_is_not_there(house: House, ann: PageClient, name: str):
    view = ann.open(f"/me/boards/kitchen/senses/{name}", status=404)
    assert "no sense named" in view.words


def test_a_person_reaches_readings_over_no_route_of_the_api(house: House, ann: PageClient):
    for path in ("/v1/boards/kitchen/senses", "/v1/people/ann/boards/kitchen/senses", "/boards/kitchen/senses"):
        assert ann.http.get(path).status_code == 403


def test_over_the_api_a_person_has_the_shared_senses_and_the_owner_all(house: House):
    assert house.names("ann") == ["garden air"] and house.names("eve") == ["garden air", "bed"]
    assert (house.status("ann", "garden air"), house.status("ann", "bed")) == (200, 404)
    assert (house.status("eve", "bed"), house.status("eve", "attic")) == (200, 404)
    query = {"since": house.board.now - 86400, "until": house.board.now + 60}
    path = "/v1/people/ann/boards/kitchen/senses/garden air/readings"
    found = house.companion.client.get(path, params=query).json()
    assert sum(point["count"] for point in found["points"]) == 120 and found["events"] == []


def test_the_owner_sees_all_on_their_page(house: House):
    with closing(house.opened("eve")) as browser:
        words = browser.open("/me/boards/kitchen/senses?days=3660").words
        assert "bed" in words and "garden air" in words


def test_a_sense_that_is_shared_no_more_is_gone_from_the_page(house: House, ann: PageClient):
    try:
        house.board.shared = {"bed"}
        house.board.tell()
        assert house.names("ann") == ["bed"]
        assert "garden air" not in ann.open("/me/boards/kitchen/senses?days=3660").words
        ann.open("/me/boards/kitchen/senses/garden%20air", status=404)
        house.board.shared = set()
        house.board.tell()
        assert "shares no readings" in ann.open("/me/boards/kitchen/senses").words
        assert "Readings of kitchen" not in ann.open("/me").words
    finally:
        house.board.shared = {"garden air"}
        house.board.tell()


def test_a_board_of_before_shares_nothing(store: CompanionStore, tmp_path: Path):
    board = PerceivingBoard(Sent(posted_to(store)), tmp_path / "flash")
    board.perceive("garden air", [1, 2])
    board.tell()
    assert [each.shared for each in store.senses.senses_of("kitchen")] == [0]
    board.shared = {"garden air"}
    board.tell()
    assert [each.shared for each in store.senses.senses_of("kitchen")] == [1]
