"""Readings as Parquet over HTTP: the same rows as JSON Lines, and one sentence without the package."""

import io
import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from engram_host.companion.errors import ExportUnavailable
from engram_host.companion.senses import parquet as export
from engram_host.companion.senses.service import Point
from engram_host.companion.store.senses.types import StoredSense
from one_case import in_one_case
from peers import Companion
from perceiving_board import HOUR, NOW, PerceivingBoard
from sending import Sent

pyarrow = pytest.importorskip("pyarrow.parquet")

SENSE = StoredSense(1, 0, "room", "°C", 1, 0, 0)


@pytest.fixture(scope="module")
def served(companion: Companion, tmp_path_factory: pytest.TempPathFactory) -> PerceivingBoard:
    board = PerceivingBoard(Sent(companion.posted), tmp_path_factory.mktemp("flash"))
    board.perceive("room", [20 + at % 7 / 10 for at in range(200)], unit="°C")
    board.perceive("door", [0, 1, 1], HOUR)
    board.tell()
    return board


def rows_of(data: bytes) -> list[dict[str, Any]]:
    return pyarrow.read_table(io.BytesIO(data)).to_pylist()


@in_one_case("level", ["minute", "hour", "day"])
@in_one_case("sense", ["room", "door"])
def test_a_file_has_the_rows_of_the_json_lines(companion: Companion, served: PerceivingBoard, level: str, sense: str):
    path = f"/v1/boards/kitchen/senses/{sense}/export"
    lines = companion.client.get(path, params={"level": level}).text.splitlines()
    answer = companion.client.get(path, params={"level": level, "format": "parquet"})
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    assert answer.headers["content-disposition"].endswith(f'-{level}s.parquet"')
    expected = [json.loads(line) for line in lines]
    assert rows_of(answer.content) == [each | {"at": datetime.fromtimestamp(each["at"], UTC)} for each in expected]
    assert expected


def test_a_time_without_readings_is_a_file_without_rows(companion: Companion, served: PerceivingBoard):
    asked = {"format": "parquet", "since": 1, "until": 2}
    assert rows_of(companion.client.get("/v1/boards/kitchen/senses/room/export", params=asked).content) == []


def test_a_span_is_that_of_the_request(companion: Companion, served: PerceivingBoard):
    asked = {"format": "parquet", "since": NOW, "until": NOW + HOUR}
    assert len(rows_of(companion.client.get("/v1/boards/kitchen/senses/room/export", params=asked).content)) == 60


def test_many_rows_are_in_several_groups():
    points = [(SENSE, Point(60 * at, 1, 1.5, 2.5, 2.0, 2)) for at in range(2 * export.ROWS_AT_ONCE + 1)]
    with export.write_parquet(iter(points)) as file:
        found = pyarrow.ParquetFile(file)
        assert (found.num_row_groups, found.metadata.num_rows) == (3, len(points))


def test_a_store_that_fails_in_the_middle_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch):
    opened: list[Any] = []
    make = export.tempfile.TemporaryFile
    monkeypatch.setattr(export.tempfile, "TemporaryFile", lambda: opened.append(make()) or opened[-1])

    def failing() -> Iterable[tuple[StoredSense, Point]]:
        yield SENSE, Point(60, 1, 1.0, 1.0, 1.0, 1.0)
        raise OSError("the database is gone")

    with pytest.raises(OSError, match="gone"):
        export.write_parquet(failing())
    assert opened[0].closed


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportUnavailable, match=r"pyarrow is not installed: pip install 'engram-mcu\[parquet\]'"):
        export.write_parquet(iter(()))
