"""GET /metrics as Prometheus reads it: figures that move with what happens, and no series for a board's name."""

from collections.abc import Callable
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from engram_host.companion.security.tokens import new_token, operator_token
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
    assert rose("engram_search_seconds_count", "asker=person") == 1
    assert rose("engram_devices") == 1
    assert after[("engram_database_bytes",)] > 0 and after[("engram_waiting_batches",)] == 0
    assert after[("engram_broker_connected",)] == 1


def test_refusals_are_counted(companion: Companion, board: Callable[..., Sent]):
    before = _figures(companion)
    one = board()
    one.say("before any hello")
    answer = one.send("journal")
    after = _figures(companion)
    name = (
        "engram_messages_total",
        "kind=lines",
        "outcome=" + ("refused" if answer["op"] == "refused" else "answered"),
    )
    assert answer["op"] == "refused" and after[name] - before[name] == 1
    assert after[("engram_refusals_total",)] - before[("engram_refusals_total",)] == 1


def test_more_boards_make_no_more_series(companion: Companion, board: Callable[..., Sent]):
    before = set(_figures(companion))
    for _ in range(3):
        board().hello()
    assert set(_figures(companion)) == before


def test_a_stranger_sees_no_figures_where_tokens_are_asked_for(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    companion = Companion(home, ENGRAM_TOKENS="on")
    companion.client.headers["Authorization"] = f"Bearer {operator_token(home)}"
    with companion:
        assert companion.client.get("/metrics").status_code == 200
        for stranger in ("", "Bearer " + new_token()):
            assert companion.client.get("/metrics", headers={"Authorization": stranger}).status_code == 401
