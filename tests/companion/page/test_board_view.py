"""A board's view: what it reports of itself, warnings that say what to do, and plots over days."""

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from companion_store import opened_store
from engram_host.companion.page.plots import plot_days, split_days
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.status import BoardStatus
from engram_host.companion.types import Hello, LogState, Sender
from one_case import in_one_case
from page_client import PageClient
from peers import Companion
from sending import Sent

FULL = {
    "run": 5,
    "firmware": "0.0.1",
    "mode": "full",
    "flash": 95 << 10,
    "flash_size": 100 << 10,
    "model": "llama",
    "model_problem": "401: the key is refused",
    "telegram": "stopped",
    "telegram_problem": "409 <b>",
    "turns": 12,
    "tokens": 345678,
    "searches": 9,
    "searches_empty": 4,
    "pins": {"lamp": "on", "soil": 812},
}


def reported(board: Callable[..., Sent], **figures: object) -> Sent:
    made = board()
    made.hello()
    assert made.ask("status", items=[[name, value] for name, value in figures.items()])["op"] == "received"
    return made


def test_a_board_shows_what_it_reports_and_what_to_do(board: Callable[..., Sent], browser: PageClient):
    kitchen = reported(board, **FULL)
    view = browser.open(f"/boards/{kitchen.device}")
    for part in (
        "0.0.1",
        "95 KB of 100 KB, 95 %",
        "llama",
        "401: the key is refused",
        "409 <b>",
        "345,678",
        "Pins",
        "lamp: on, soil: 812",
        "engram board deploy",
    ):
        assert part in view.words, part
    assert "flash is 95 % full" in view.words
    titles = {each["id"] for each in view.all("figcaption")}
    wanted = ("memories", "said", "flash", "turns", "calls", "tokens", "searches", "searches_empty", "errors")
    assert titles >= {f"plot-{name}" for name in wanted}


BRIDGES = """
[bridges.tele]
network = "telegram"
boards = ["kitchen"]

[bridges.chat]
network = "irc"
server = "irc.invalid:6697"

[bridges.unused]
network = "matrix"
on = false
"""


def test_a_board_names_the_bridges_that_reach_it(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "companion.toml").write_text(BRIDGES)
    with Companion(home) as companion, closing(PageClient(companion.url)) as browser:
        for device in ("kitchen", "garden"):
            Sent(companion.posted, device, board=device).hello()
        kitchen, garden = (browser.open(f"/boards/{device}").words for device in ("kitchen", "garden"))
    assert "tele: " in kitchen and "chat: " in kitchen and "unused" not in kitchen
    assert "chat: " in garden and "tele: " not in garden


def test_the_list_shows_and_sorts_by_firmware_and_flash(
    companion: Companion, board: Callable[..., Sent], browser: PageClient
):
    full, empty = reported(board, **FULL), reported(board, run=1, firmware="9.0.0", flash=1, flash_size=100, model="m")
    words = browser.open("/?sort=-flash").words
    assert words.index(full.device) < words.index(empty.device) and "95 %" in words and "409 <b>" in words
    found = companion.client.get("/v1/boards", params={"sort": "-firmware"}).json()["boards"]
    assert found[0]["told"]["status"]["firmware"] == "9.0.0"
    warnings = companion.client.get("/v1/boards?sort=-flash").json()["boards"][0]["warnings"]
    assert any("flash is 95 % full" in each for each in warnings)


def test_the_view_of_a_year_of_reports_is_bounded(companion: Companion, browser: PageClient):
    now = int(time.time())
    with opened_store(companion.home) as store:
        store.replication.greet(
            Hello("busy", Sender("b9", 3, 9), 0, {"records": LogState(7, 1, 1, 0), "journal": LogState(7, 1, 1, 0)}),
            now,
        )
        for day in range(366):
            _report(store, day, now - (366 - day) * 86400)
    for days in (7, 30, 90, 366):
        answer = browser.http.get(f"/boards/busy?days={days}")
        assert answer.status_code == 200 and len(answer.content) < 60 * 1024, days


def _report(store: CompanionStore, day: int, at: int) -> None:
    count = 1000 * (day + 1)
    counts = (count, day, count, 100 * count, count, count, day)
    status = BoardStatus(1, 0, "0.1.0", "full", "power", day, 10000, 0, 0, 0, 0, 0, 0, "m", "", "off", "", *counts)
    store.status.put_status(Sender("b9", 3, 9), "busy", status, at)


def test_a_setting_that_is_sent_goes_to_the_board(board: Callable[..., Sent], browser: PageClient):
    kitchen = board()
    kitchen.sync()
    path = f"/boards/{kitchen.device}/settings"
    assert browser.send(path, {"name": "llm.retries", "value": "5"}, seen=path).status_code == 303
    assert kitchen.offered()["text"] == "/setting llm.retries 5"


def test_a_service_is_chosen_by_its_name_and_the_board_tests_it(board: Callable[..., Sent], browser: PageClient):
    kitchen = board()
    kitchen.sync()
    path = f"/boards/{kitchen.device}/settings"
    shown = f"{path}?section=model"
    chosen = {"service": "Ollama", "computer": "192.168.1.20", "sure": "yes"}
    assert browser.send(f"{path}/service", chosen, seen=shown).status_code == 303
    assert browser.send(f"{path}/test", {}, seen=shown).status_code == 303
    assert [kitchen.answer() for _ in range(5)] == [
        '/setting llm.key ""',  # a key of the service before goes to no other one
        "/setting llm.api openai",
        "/setting llm.url http://192.168.1.20:11434/v1",
        "/setting llm.model qwen2.5:7b",
        '/setting extract.model ""',
    ]
    assert kitchen.answer("chat      works", "This model is too small for tools") == "/model test"
    assert "This model is too small for tools" in browser.open(shown).words


# --- days as bars


@in_one_case("days, bars", [(1, 1), (7, 7), (30, 30), (31, 31), (90, 13), (92, 14), (366, 14)])
def test_days_make_bars_that_are_not_too_many_and_hold_each_day_once(days: int, bars: int):
    spans = split_days(days, 1000)
    assert len(spans) == bars and [day for span in spans for day in span] == list(range(1001 - days, 1001))


def test_a_bar_of_several_days_adds_or_takes_the_most():
    spans = (range(2), range(2, 3))
    added, most = plot_days(spans, {0: 1, 1: 2, 9: 5}), plot_days(spans, {0: 1, 1: 2}, max)
    assert [bar.value for bar in added.bars] == [3, 0] and [bar.value for bar in most.bars] == [2, 0]
    assert added.bars[0].label == "1970-01-01 – 1970-01-02" and added.bars[1].label == "1970-01-03"


def test_warnings_and_events_are_said_in_chinese_too_while_the_api_keeps_its_english(
    companion: Companion, board: Callable[..., Sent], browser: PageClient
):
    kitchen = board()
    kitchen.hello()
    words = browser.open(f"/boards/{kitchen.device}?lang=zh").words
    assert "它还没有报告自己的状态" in words and f"“{kitchen.device}”第一次连接此 companion" in words
    events = companion.client.get(f"/v1/devices/{kitchen.device}/events").json()
    assert events[0][1].startswith(f'"{kitchen.device}" is new to this companion')


def test_a_refusal_of_the_companion_is_said_in_chinese_too(browser: PageClient):
    assert "没有名为 nobody 的设备板连接过" in browser.open("/boards/nobody?lang=zh", status=404).words
