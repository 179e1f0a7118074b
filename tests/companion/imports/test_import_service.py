"""Imports that run over the link: progress, refusals, a board that is away, cancellation, restarts, bounds."""

import asyncio
import contextlib
import errno
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import support
from engram.errors import EngramError
from engram.memory.access import OWNER
from engram_host.companion.errors import ImportRefused, UnknownImport
from engram_host.companion.imports.files import ImportFiles, ImportStatus
from engram_host.companion.imports.service import ImportService
from movers import mover
from peers import Companion
from sending import Sent
from waiting import wait_until

LINES = [{"content": f"fact {number} about the bike", "tags": ["bike"]} for number in range(6)]


class ImportingBoard:
    """A board on the link whose firmware runs in this process, as long as the block runs."""

    def __init__(self, sent: Sent, answer: Callable[[str], list[list[str]]]):
        self._sent = sent
        self._answer = answer
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.asked: list[str] = []

    def __enter__(self) -> "ImportingBoard":
        self._sent.hello()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(30)

    def _run(self) -> None:
        mid = turn = ""
        while not self._stop.is_set():
            head = self._sent.ask("listen", wait=1, mid=mid, turn=turn)
            mid = turn = ""
            if head.get("op") != "say":
                continue
            self.asked.append(head["mid"])
            items = self._answer(head["text"])
            self._sent.ask("reply", mid=head["mid"], offer=head["offer"], k=1, items=[*items, ["end", "t1"]])


def console(board: Any) -> Callable[[str], list[list[str]]]:
    """What a board's console answers, as the items of a reply."""

    def answer(command: str) -> list[list[str]]:
        items: list[list[str]] = []
        try:
            for output in board.commands.run(OWNER, command):
                if isinstance(output, str):
                    items.append(["line", output])
                elif not isinstance(output, int):
                    items.append(["report", json.dumps(output)])
        except EngramError as error:
            items.append(["problem", str(error)])
        return items

    return answer


@pytest.fixture
def kitchen(companion: Companion, board: Callable[..., Sent], tmp_path: Path) -> Sent:
    support.use_root(str(tmp_path))
    made = board()
    made.sync()
    return made


class Imports:
    """The imports of a board over HTTP."""

    def __init__(self, companion: Companion, device: str):
        self._client = companion.client
        self._path = f"/v1/boards/{device}/imports"

    def preview(self, lines: list[Any], name: str = "in.jsonl", status: int = 201) -> dict[str, Any]:
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        answer = self._client.post(self._path, params={"name": name}, content=data)
        assert answer.status_code == status, answer.text
        return answer.json()

    def start(self, import_id: str, status: int = 200) -> dict[str, Any]:
        answer = self._client.post(f"{self._path}/{import_id}", json={"action": "start"})
        assert answer.status_code == status, answer.text
        return answer.json()

    def cancel(self, import_id: str) -> None:
        assert self._client.delete(f"{self._path}/{import_id}").status_code == 204

    def status(self, import_id: str) -> dict[str, Any]:
        return self._client.get(f"{self._path}/{import_id}").json()

    def wait(self, import_id: str, state: str) -> dict[str, Any]:
        wait_until(f"the import is {state}", lambda: self.status(import_id).get("state") == state)
        return self.status(import_id)


@pytest.fixture
def imports(companion: Companion, kitchen: Sent) -> Imports:
    return Imports(companion, kitchen.device)


def test_lines_go_to_the_board_one_after_the_other(imports: Imports, kitchen: Sent):
    firmware = mover()
    lines = [*LINES, {"content": ""}, LINES[0], {"content": "mine", "mood": "good"}]
    made = imports.preview(lines)
    assert made["state"] == "preview" and made["expected"] == {"stored": 7, "refused": 1, "there already": 1}
    with ImportingBoard(kitchen, console(firmware)) as board:
        imports.start(made["id"])
        done = imports.wait(made["id"], "done")
    assert done["counts"] == {"stored": 7, "refused": 1, "there already": 1}
    assert [each["line"] for each in done["problems"]] == [7] and done["unknown"] == ["mood"]
    assert (done["sent"], done["total"]) == (9, 9) and len(board.asked) == 8
    assert firmware.records.count() == 7


def test_a_board_that_is_away_keeps_an_import_waiting(imports: Imports, kitchen: Sent):
    made = imports.preview(LINES)
    imports.start(made["id"])
    wait_until("it is said that it waits", lambda: imports.status(made["id"])["told"], 40)
    waiting = imports.status(made["id"])
    assert waiting["state"] == "running" and waiting["sent"] == 0
    with ImportingBoard(kitchen, console(mover())):
        done = imports.wait(made["id"], "done")
    assert done["counts"] == {"stored": 6} and done["told"] == ""


def test_what_every_line_would_be_refused_for_stops_an_import_which_goes_on_later(imports: Imports, kitchen: Sent):
    firmware = mover()
    made = imports.preview(LINES)
    why = (
        "the board does not let its companion speak for the owner: type `/setting companion.chat owner` on its console."
    )
    with ImportingBoard(kitchen, lambda command: [["problem", why]]) as board:
        imports.start(made["id"])
        failed = imports.wait(made["id"], "failed")
        assert failed["told"] == why and failed["sent"] == 0 and len(board.asked) == 1
    with ImportingBoard(kitchen, console(firmware)):
        imports.start(made["id"])
        assert imports.wait(made["id"], "done")["counts"] == {"stored": 6}
    assert firmware.records.count() == 6


def test_a_full_board_stops_an_import_at_the_line_that_it_cannot_keep(imports: Imports, kitchen: Sent):
    made = imports.preview(LINES)
    with ImportingBoard(kitchen, console(mover(records_most=3))):
        imports.start(made["id"])
        failed = imports.wait(made["id"], "failed")
    assert failed["counts"] == {"stored": 3} and failed["sent"] == 3 and "memory is full" in failed["told"]


def test_an_import_is_cancelled_before_the_board_has_its_next_line(imports: Imports, kitchen: Sent):
    made = imports.preview(LINES)
    imports.start(made["id"])
    imports.cancel(made["id"])
    assert imports.wait(made["id"], "cancelled")["sent"] == 0
    with ImportingBoard(kitchen, console(mover())) as board:
        imports.start(made["id"])
        assert imports.wait(made["id"], "done")["counts"] == {"stored": 6}
    assert len(board.asked) == 6  # the cancelled message never came


def test_an_import_is_cancelled_between_lines_that_are_answered_at_once(imports: Imports, kitchen: Sent):
    made = imports.preview(LINES)
    stored = console(mover())

    def cancel_at_the_second(command: str) -> list[list[str]]:
        if LINES[1]["content"] in command:
            imports.cancel(made["id"])
        return stored(command)

    with ImportingBoard(kitchen, cancel_at_the_second) as board:
        imports.start(made["id"])
        wait_until("it is over", lambda: imports.status(made["id"])["state"] != "running")
    status = imports.status(made["id"])
    assert (status["state"], len(board.asked)) == ("cancelled", 2)
    # The companion looks for a cancellation each second, which may be before it has the answer to the second line.
    assert status["sent"] in (1, 2)


def test_one_board_has_one_import_at_a_time(imports: Imports, kitchen: Sent):
    first, second = imports.preview(LINES), imports.preview(LINES)
    imports.start(first["id"])
    assert "another import" in imports.start(second["id"], 422)["problem"]
    imports.cancel(first["id"])
    imports.wait(first["id"], "cancelled")


def service_on(home: Path) -> ImportService:
    """Return the service of one of several processes on a folder."""
    return ImportService(boards=Mock(), notes=Mock(), conversations=Mock(), home=home, supervisor=Mock(), lease=Mock())


def test_an_unknown_import_is_not_begun_and_makes_no_folder(tmp_path: Path):
    with pytest.raises(UnknownImport):
        asyncio.run(service_on(tmp_path).begin("kitchen", "0" * 16))
    assert not list(tmp_path.iterdir())


def test_an_import_that_cannot_be_kept_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ImportFiles(tmp_path).add(ImportStatus("0" * 16, "kitchen", "in.jsonl", 0), [])
    monkeypatch.setattr(ImportFiles, "save", Mock(side_effect=OSError(errno.EROFS, "Read-only file system")))
    with pytest.raises(ImportRefused, match="Read-only file system"):
        asyncio.run(service_on(tmp_path).begin("kitchen", "0" * 16))


def test_of_two_imports_that_begin_at_the_same_time_one_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    files, ids = ImportFiles(tmp_path), ["0" * 16, "1" * 16]
    for import_id in ids:
        files.add(ImportStatus(import_id, "kitchen", "in.jsonl", 0), [])
    both_have_looked = threading.Barrier(2)
    list_imports = ImportFiles.list_imports

    def list_together(self: ImportFiles) -> list[ImportStatus]:
        found = list_imports(self)
        with contextlib.suppress(threading.BrokenBarrierError):
            both_have_looked.wait(1)  # in vain if only one looks at a time
        return found

    async def begin() -> list[Any]:
        return await asyncio.gather(
            *(service_on(tmp_path).begin("kitchen", each) for each in ids), return_exceptions=True
        )

    monkeypatch.setattr(ImportFiles, "list_imports", list_together)
    refused = [each for each in asyncio.run(begin()) if isinstance(each, ImportRefused)]
    assert len(refused) == 1 and [files.read(each).state for each in ids].count("running") == 1


def test_what_is_no_import_is_refused(
    imports: Imports, companion: Companion, kitchen: Sent, board: Callable[..., Sent]
):
    assert "nothing to import" in imports.preview([], status=422)["problem"]
    made = imports.preview(LINES)
    other = board()
    other.sync()
    elsewhere = Imports(companion, other.device)
    assert "there is no import" in elsewhere.start(made["id"], 404)["problem"]
    assert companion.client.get(f"/v1/boards/{kitchen.device}/imports/{'0' * 16}").status_code == 404
    assert companion.client.post("/v1/boards/nobody/imports?name=a.md", content=b"- x").status_code == 404
    assert companion.client.post(f"/v1/boards/{kitchen.device}/imports?name=a/b", content=b"{}").status_code == 422
    too_much = companion.client.post(f"/v1/boards/{kitchen.device}/imports?name=a", content=b"x" * 1_000_001)
    assert too_much.status_code == 422 and "at most 1000000" in too_much.json()["problem"]


def test_lines_of_a_preview_are_listed_by_outcome(imports: Imports, companion: Companion, kitchen: Sent):
    made = imports.preview([*LINES, {"content": ""}])
    path = f"/v1/boards/{kitchen.device}/imports/{made['id']}/lines"
    refused = companion.client.get(path, params={"outcome": "refused"}).json()
    assert refused["total"] == 1 and refused["lines"][0]["number"] == 7 and refused["lines"][0]["why"]
    some = companion.client.get(path, params={"offset": 2, "limit": 2}).json()
    assert some["total"] == 7 and [each["number"] for each in some["lines"]] == [3, 4]


@pytest.fixture
def lonely(tmp_path: Path) -> Iterator[Companion]:
    """A companion that a test ends and starts again."""
    support.use_root(str(tmp_path))
    with Companion(tmp_path / "home") as companion:
        yield companion


def test_an_import_goes_on_after_the_companion_was_killed(lonely: Companion):
    firmware = mover()
    kitchen = Sent(lonely.posted, "kitchen")
    kitchen.sync()
    imports = Imports(lonely, "kitchen")
    made = imports.preview(LINES)
    imports.start(made["id"])
    answer = console(firmware)
    with ImportingBoard(kitchen, answer):
        wait_until("a line is there", lambda: imports.status(made["id"])["sent"] >= 1)
    lonely.kill()
    lonely.start()
    with ImportingBoard(kitchen, answer):
        done = imports.wait(made["id"], "done")
    assert done["sent"] == 6 and firmware.records.count() == 6
    files = list((lonely.home / "imports").iterdir())
    assert files and all(file.stat().st_mode & 0o077 == 0 for file in files)


def test_an_import_goes_on_after_the_companion_was_stopped_while_a_line_waited(lonely: Companion):
    Sent(lonely.posted, "kitchen").sync()
    imports = Imports(lonely, "kitchen")
    made = imports.preview(LINES)
    imports.start(made["id"])
    chat = "/v1/boards/kitchen/chat?room=import"
    wait_until("the first line waits", lambda: lonely.client.get(chat).json())
    lonely.stop()
    lonely.start()
    assert imports.status(made["id"])["state"] == "running"
    with ImportingBoard(Sent(lonely.posted, "kitchen"), console(mover())) as board:
        assert imports.wait(made["id"], "done")["counts"] == {"stored": 6}
    assert len(board.asked) == 6
