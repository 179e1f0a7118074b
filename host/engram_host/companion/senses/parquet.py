"""Readings as a Parquet file: a row for each minute, hour or day, with the columns of the JSON Lines."""

import contextlib
import tempfile
from collections.abc import Iterable
from itertools import islice
from types import ModuleType
from typing import IO, Any

from engram_host.companion.errors import ExportUnavailable
from engram_host.companion.senses.service import Point
from engram_host.companion.store.senses.types import StoredSense
from engram_host.extras import missing_package

ROWS_AT_ONCE = 10_000


def write_parquet(readings: Iterable[tuple[StoredSense, Point]]) -> IO[bytes]:
    """Return an unnamed temporary file at its beginning; blocks, and may raise ExportUnavailable."""
    pyarrow, parquet = _load()
    texts = pyarrow.dictionary(pyarrow.int8(), pyarrow.string())
    figures = [(name, pyarrow.float64()) for name in ("min", "max", "mean", "last")]
    at = ("at", pyarrow.timestamp("ms", tz="UTC"))
    schema = pyarrow.schema([("sense", texts), ("unit", texts), at, ("count", pyarrow.int64()), *figures])
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile())
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            found = iter(readings)
            while rows := list(islice(found, ROWS_AT_ONCE)):
                writer.write_table(pyarrow.table(_columns(rows), schema=schema))
        file.seek(0)
        stack.pop_all()  # the caller closes it
    return file


def _columns(rows: list[tuple[StoredSense, Point]]) -> dict[str, list[Any]]:
    points = [point for _, point in rows]
    return {
        "sense": [sense.name for sense, _ in rows],
        "unit": [sense.unit for sense, _ in rows],
        "at": [point.at * 1000 for point in points],
        "count": [point.count for point in points],
        "min": [float(point.min) for point in points],
        "max": [float(point.max) for point in points],
        "mean": [float(point.mean) for point in points],
        "last": [float(point.last) for point in points],
    }


def _load() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as missing:
        raise ExportUnavailable(missing_package(missing.name)) from None
    return pyarrow, pyarrow.parquet
