"""GET /metrics as Prometheus reads it: figures that move with what happens, and no series for a board's name."""

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from engram_host.companion.metrics import LAST_BACKUP
from fake_llm import serving
from peers import Companion
from sending import Sent


def _figures(companion: Companion) -> dict[tuple[str, ...], float]:
    answer = companion.client.get("/metrics")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, *(f"{name}={value}" for name, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_lines_messages_and_searches_are_counted(companion: Companion, board: Callable[..., Sent]):
    before = _figures(companion)
    one = board()
    one.hello()
    for number in range(3):
        one.say(f"telling {number}")
    one.send("journal")
    one.send("journal", after=99, to=99)  # begins beyond what is there: not taken, and told so
    companion.client.post("/v1/search", json={"query": "telling"})
    companion.client.post(
        f"/v1/devices/{one.device}/messages", content=b"nonsense", headers={"Content-Type": "application/octet-stream"}
    )
    after = _figures(companion)

    def rose(*name: str) -> float:
        return after[name] - before[name]

    assert rose("engram_lines_taken_total") == 3
    assert rose("engram_messages_total", "kind=hello", "outcome=answered") == 1
    assert rose("engram_messages_total", "kind=lines", "outcome=answered") == 2
    assert rose("engram_messages_total", "kind=other", "outcome=unreadable") == 1
    assert rose("engram_take_seconds_count") >= 1
    assert rose("engram_search_seconds_count", "caller=person") == 1
    assert rose("engram_devices") == 1
    assert after[("engram_database_bytes",)] > 0 and after[("engram_waiting_batches",)] == 0


def test_free_bytes_of_the_disk_and_the_time_of_the_last_backup_are_shown(companion: Companion):
    figures = _figures(companion)
    free = shutil.disk_usage(companion.home).free
    assert figures["engram_disk_free_bytes",] == pytest.approx(free, rel=0.1)
    assert figures["engram_last_backup_timestamp_seconds",] == 0
    (companion.home / LAST_BACKUP).touch()
    os.utime(companion.home / LAST_BACKUP, (1.8e9, 1.8e9))
    assert _figures(companion)["engram_last_backup_timestamp_seconds",] == 1.8e9


def test_more_boards_make_no_more_series(companion: Companion, board: Callable[..., Sent]):
    before = set(_figures(companion))
    for _ in range(3):
        board().hello()
    assert set(_figures(companion)) == before


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion with a folder and a gateway, which a device may call twice a day."""
    folder = tmp_path_factory.mktemp("metrics")
    (folder / "notes").mkdir()
    for name in ("tea", "coffee"):
        (folder / "notes" / f"{name}.md").write_text(f"# {name}\n\nWhat there is to say of {name}.\n")
    limits = {"ENGRAM_GATEWAY_DEVICE_CALLS": "2", "ENGRAM_FOLDERS": str(folder / "notes")}
    with (
        serving() as service,
        Companion(folder / "home", ENGRAM_GATEWAY_URL=f"{service.url}/v1", **limits) as companion,
    ):
        usage = {"input": 700, "output": 33}
        service.add({"when": {"equals": "hi"}, "reply": "hello", "usage": usage}, first=True)
        service.add({"when": {"equals": "fail"}, "fault": "500"}, first=True)
        yield companion


def test_calls_of_the_gateway_are_counted_and_why_it_refused_others(busy: Companion):
    def ask(said: str) -> int:
        asked = {"model": "m", "messages": [{"role": "user", "content": said}]}
        return busy.client.post("/gateway/v1/chat/completions", json=asked).status_code

    assert [ask("hi"), ask("fail"), ask("hi")] == [200, 500, 429]
    assert busy.client.post("/gateway/v1/chat/completions", content=b"{").status_code == 400
    figures = _figures(busy)
    assert figures[("engram_gateway_calls_total",)] == 2 and figures[("engram_gateway_tokens_total",)] == 733
    refused = {name[1]: value for name, value in figures.items() if name[0] == "engram_gateway_refusals_total"}
    assert refused == {"why=limit": 1, "why=busy": 0, "why=request": 1, "why=service": 1}
