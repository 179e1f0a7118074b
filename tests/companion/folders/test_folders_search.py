"""Folders over HTTP on a real companion: found together with boards' memory, cited, and shown to whom they are for."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli_case import fine
from companion_store import opened_store
from markdown_folders import write
from one_case import in_one_case
from peers import Companion
from sending import Sent
from waiting import wait_until

LONG = "\n".join(f"line {number} of a long story" for number in range(1, 400))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("folders")
    write(
        root,
        {
            "notes/tea.md": "# Tea\n\n## Green\n\nThe sencha comes from Uji.\n\n## Black\n\nThe assam is malty.\n",
            "notes/long.md": LONG + "\nthe zebrafinch sings\n" + LONG,
            "shared/rules.md": "# House\n\nThe boiler is serviced in October.\n",
            "agent/MEMORY.md": "The owner prefers metric units.",
            "agent/memory/2026-01-02.md": "We planted the quince tree.",
            "agent/other.md": "The quince is no memory.",
            "secret.md": "the password is swordfish",
        },
    )
    (root / "notes" / "link.md").symlink_to(root / "secret.md")
    return root


@pytest.fixture(scope="module")
def companion(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    home = tmp_path_factory.mktemp("companion")
    paths = f'["{root / "notes"}", {{path = "{root / "shared"}", scope = "all"}}]'
    lines = ["[folders]", f"paths = {paths}", f'memory = ["{root / "agent"}"]', "rescan_seconds = 1"]
    (home / "companion.toml").write_text("\n".join(lines))
    with Companion(home) as running:
        wait_until("all is read", lambda: {one["state"] for one in folders(running)} == {"up to date"})
        yield running


def folders(companion: Companion, **who: Any) -> list[dict[str, Any]]:
    return companion.client.get("/v1/folders", params=who).json()


def found(companion: Companion, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = companion.client.post("/v1/search", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()["hits"]


def shown(companion: Companion, path: str, **more: Any) -> Any:
    return companion.client.get("/v1/memory", params={"path": path, **more})


def test_a_passage_is_cited_by_file_and_line(companion: Companion):
    hit = found(companion, "where does the sencha come from")[0]
    assert (hit["device"], hit["citation"], hit["heading"]) == ("", "notes/tea.md#5", "Tea")
    assert "The sencha comes from Uji." in hit["text"]


def test_the_line_of_a_citation_is_the_one_that_says_it(companion: Companion):
    hit = found(companion, "zebrafinch")[0]
    path, _, line = hit["citation"].rpartition("#")
    assert "the zebrafinch sings" in hit["text"] and len(hit["text"]) <= 700
    assert shown(companion, path, **{"from": line, "lines": 1}).json()["lines"] == ["the zebrafinch sings"]


def test_what_two_passages_share_is_shown_once(companion: Companion):
    citations = [hit["citation"] for hit in found(companion, "zebrafinch sings")]
    assert len(citations) == len(set(citations))


def test_boards_and_folders_stand_in_one_order(companion: Companion, board):
    one: Sent = board()
    one.keep("the kettle for assam is in the cupboard")
    one.sync()
    hits = found(companion, "assam kettle cupboard")
    assert hits[0]["device"] == one.device and any(hit["citation"] == "notes/tea.md#9" for hit in hits)
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)


@in_one_case("who", [{"principal": "ann"}, {"group": True}, {"principal": "ann", "workspace": "shed"}])
def test_others_find_only_what_is_for_all(companion: Companion, who: dict[str, Any]):
    assert found(companion, "sencha boiler October quince", **who)[0]["citation"] == "shared/rules.md#3"
    assert {hit["citation"] for hit in found(companion, "sencha quince metric", **who)} == set()
    assert [one["place"]["name"] for one in folders(companion, **who)] == ["shared"]
    assert shown(companion, "notes/tea.md", **who).status_code == 404
    assert shown(companion, "shared/rules.md", **who).status_code == 200


def test_a_refusal_says_the_same_whether_there_is_such_a_file_or_not(companion: Companion):
    there, nowhere = (shown(companion, f"notes/{name}.md", principal="ann").json() for name in ("tea", "coffee"))
    assert there == nowhere


ASKS = {"limit": 5, "principal": "owner", "group": False, "workspace": "", "tags": [], "since": 0, "until": 0}


@pytest.fixture
def sent(board) -> Sent:
    one: Sent = board()
    one.keep("nothing of it")
    one.sync()
    return one


def _items(sent: Sent, query: str, **more: Any) -> list[Any]:
    return sent.ask("search", query=query, **(ASKS | more))["items"]


def test_a_board_that_asks_is_given_lines_of_files_with_their_text(companion: Companion, sent: Sent):
    ((citation, score, at, who, text),) = _items(sent, "where does the sencha come from", folders=True)
    assert (citation, who) == ("notes/tea.md#5", "") and "The sencha comes from Uji." in text and score and at


def test_a_board_reads_on_in_a_file(companion: Companion, sent: Sent):
    who = {"principal": "owner", "group": False, "workspace": ""}
    shown = json.loads(sent.ask("file", path="notes/long.md", first=3, count=100, **who)["text"])
    assert shown["lines"][0] == "line 3 of a long story" and shown["next_first"] == 3 + len(shown["lines"])
    assert sum(map(len, shown["lines"])) <= 3000


def test_a_board_reads_no_file_that_its_caller_may_not_see(companion: Companion, sent: Sent):
    who = {"principal": "ann", "group": False, "workspace": ""}
    there, nowhere = (sent.ask("file", path=f"notes/{name}.md", first=1, count=9, **who) for name in ("tea", "coffee"))
    assert there["op"] == nowhere["op"] == "refused"
    assert there["why"].replace("tea", "coffee") == nowhere["why"]
    assert _items(sent, "sencha", folders=True, principal="ann") == []


def test_a_whole_file_can_be_read_page_by_page(companion: Companion, root: Path):
    read: list[str] = []
    following = 1
    while following:
        page = shown(companion, "notes/long.md", **{"from": following, "lines": 500}).json()
        read += page["lines"]
        following = page["following"]
    assert "\n".join(read) == (root / "notes" / "long.md").read_text()


@in_one_case(
    "path",
    [
        "secret.md",
        "../secret.md",
        "notes/../secret.md",
        "notes/../../secret.md",
        "notes/link.md",
        "/etc/passwd",
        "notes//tea.md",
        "notes/./tea.md",
        "notes/%2e%2e/secret.md",
        "notes%2f..%2fsecret.md",
        "notes/．．/secret.md",
        "notes\\..\\secret.md",
        "notes/tea.md\0",
        "notes/\0/../../secret.md",
        "agent/other.md",
        "notes",
        "notes/",
        "NOTES/tea.md",
        "notes/tea.md#5",
        "companion.toml",
    ],
)
def test_nothing_else_is_shown(companion: Companion, path: str):
    answer = shown(companion, path)
    assert answer.status_code == 404 and "swordfish" not in answer.text and "lines" not in answer.json()


@in_one_case("raw", ["..%2Fsecret.md", "%2e%2e%2fsecret.md", "notes%2F%2E%2E%2Fsecret.md", "notes/%00", "%ff%fe"])
def test_nothing_else_is_shown_however_it_is_encoded(companion: Companion, raw: str):
    assert companion.client.get(f"/v1/memory?path={raw}").status_code == 404


def test_a_change_is_found_and_what_was_there_before_is_not(companion: Companion, root: Path):
    write(root, {"notes/changing.md": "the marmot hibernates"})
    wait_until("it is found", lambda: found(companion, "marmot"))
    write(root, {"notes/changing.md": "\n\nthe hedgehog hibernates"})
    wait_until(
        "the change is found",
        lambda: [hit["citation"] for hit in found(companion, "hedgehog")] == ["notes/changing.md#3"],
    )
    assert found(companion, "marmot") == []


def test_a_kill_while_a_folder_is_read_loses_and_doubles_nothing(tmp_path: Path):
    many: dict[str, str | bytes] = {
        f"many/{number}.md": f"# Note {number}\n\n" + f"words of note {number} " * 30 for number in range(3000)
    }
    write(tmp_path, many)
    home = tmp_path / "home"
    home.mkdir()
    with Companion(home, ENGRAM_FOLDERS=str(tmp_path / "many")) as running:

        def done() -> int:
            count = folders(running)[0]["progress"]["done"]
            return count if count > 100 else 0

        assert wait_until("some are read", done) < 3000
        running.kill()
        running.start()
        wait_until("all are read", lambda: folders(running)[0]["state"] == "up to date")
        assert folders(running)[0]["progress"]["passages"] == 3000
        with opened_store(home) as store:
            (source,) = store.boards.sources()
            assert source.have["records"] == 3000


def test_a_file_that_cannot_be_read_is_reported(companion: Companion, root: Path):
    write(root, {"notes/latin.md": b"caf\xe9"})
    wait_until(
        "it is told",
        lambda: any("latin.md" in told for one in folders(companion) for told in one["progress"]["problems"]),
    )
    answer = shown(companion, "notes/latin.md")
    assert answer.status_code == 422 and "UTF-8" in answer.json()["problem"]
    os.unlink(root / "notes" / "latin.md")


# --- some folders by name


def test_named_folders_are_searched_beside_named_boards(companion: Companion, board):
    one: Sent = board()
    one.keep("the boiler and the sencha are in the cupboard")
    one.sync()
    hits = found(companion, "boiler sencha cupboard", folders=["shared"], devices=[one.device])
    assert {hit["device"] for hit in hits} == {one.device, ""}


def refusal(companion: Companion, **more: Any) -> tuple[int, str]:
    answer = companion.client.post("/v1/search", json={"query": "tea", **more})
    return answer.status_code, answer.json().get("problem", "")


def test_an_unknown_folder_is_an_error_that_lists_those_there_are(companion: Companion):
    status, problem = refusal(companion, folders=["shared", "nowhere"])
    assert status == 422
    assert (
        problem
        == "folders names 'nowhere', and no folder that you may see is called so; there are agent, notes, shared."
    )


def test_a_folder_that_the_caller_may_not_see_is_unknown(companion: Companion):
    status, problem = refusal(companion, folders=["notes"], principal="ann")
    assert status == 422 and problem.endswith("there are shared.")


def test_folders_and_a_log_cannot_be_named_together(companion: Companion):
    assert refusal(companion, folders=["notes"], log="records")[0] == 422


def test_the_command_searches_the_folders_that_are_named(companion: Companion):
    ran = fine(
        "search", "boiler sencha quince", "--folder", "shared", "--folder", "agent", "--json", "--home", companion.home
    )
    citations = {hit["citation"].partition("/")[0] for hit in json.loads(ran.out)["hits"]}
    assert citations == {"shared", "agent"}


@in_one_case("setting, in_private, in_group", [("on", True, True), ("auto", True, False), ("off", False, False)])
def test_results_name_their_file_as_the_settings_say(tmp_path: Path, setting: str, in_private: bool, in_group: bool):
    write(tmp_path, {"house/rules.md": "The boiler is serviced in October."})
    home = tmp_path / "home"
    home.mkdir()
    entry = f'{{path = "{tmp_path / "house"}", scope = "all"}}'
    (home / "companion.toml").write_text(f'[folders]\npaths = [{entry}]\ncitations = "{setting}"\n')
    with Companion(home) as running:
        for group, is_cited in ((False, in_private), (True, in_group)):
            [hit] = wait_until("it is read", lambda group=group: found(running, "boiler October", group=group))
            assert (hit["citation"], hit["id"]) == (("house/rules.md#1",) * 2 if is_cited else ("", ""))
            assert hit["text"] == "The boiler is serviced in October."
