"""SQL in one transaction: parts of statements that several tables share, and what differs between the databases.

Statements are written once, in the common subset of SQLite and PostgreSQL, with parameters as `?`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

OF_COPY = "device = ? AND log = ? AND epoch = ?"
LINE_COLUMNS = "device, log, epoch, seq, version, received, crc, line"

PRESENT = (
    "JOIN logs ON logs.device = {0}.device AND logs.log = {0}.log AND logs.epoch = {0}.epoch AND logs.is_present "
    "WHERE {0}.device = ? AND {0}.version > ?"
)

AT_ONCE = 500
"""Values in one list of a statement, and rows read by one."""

Value = TypeVar("Value")
Kind = TypeVar("Kind")


def in_list(values: Iterable[Value]) -> tuple[str, list[Value]]:
    found = list(values)
    count = 1 << (len(found) - 1).bit_length() if found else 0
    return f"IN ({', '.join('?' * count)})", [*found, *found[-1:] * (count - len(found))]


def chunks(values: Iterable[Value], size: int = AT_ONCE) -> Iterator[list[Value]]:
    found = list(values)
    return (found[start : start + size] for start in range(0, len(found), size))


def columns_of(kind: type) -> str:
    return ", ".join(field.name for field in fields(kind))


def read_row(kind: type[Kind], row: Sequence[Any]) -> Kind:
    pairs = zip(fields(kind), row, strict=True)  # pyright: ignore[reportArgumentType]
    return kind(*(bool(value) if field.type is bool else value for field, value in pairs))


def row_values(row: Any) -> dict[str, Any]:
    return {name: int(value) if isinstance(value, bool) else value for name, value in vars(row).items()}


class SqlStatements(ABC):
    for_update = ""
    """Suffix of a SELECT that locks its rows; SQLite locks the whole database."""

    contains = "instr(line, ?) > 0"

    if_lost = "`engram restore` a backup, or `engram repair` sets aside what is lost."

    @abstractmethod
    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Execute a statement and return its rows."""

    @abstractmethod
    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement for each row of values."""

    @abstractmethod
    def script(self, sql: str) -> None:
        """Execute several statements, without values."""

    def translated(self, schema: str) -> str:
        """Translate statements that make tables; these are written for SQLite."""
        return schema

    @abstractmethod
    def count(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute a statement and return the number of rows it changed."""

    def insert(self, table: str, values: Mapping[str, Any], on_conflict: str = "") -> int:
        """Insert a row; return 0 if a conflict kept it out."""
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks}) {on_conflict}"
        return self.count(sql, (*values.values(),))

    def upsert(self, table: str, key: str, values: Mapping[str, Any]) -> None:
        """Insert a row, or update the one with its key."""
        kept = ", ".join(f"{name} = excluded.{name}" for name in values if name not in key.split(", "))
        self.insert(table, values, f"ON CONFLICT ({key}) DO UPDATE SET {kept}")

    def delete_some(self, table: str, key: str, where: str, values: Sequence[Any], most: int, order: str) -> int:
        # Without ORDER BY and a literal LIMIT, the generic plan reads the whole table.
        wanted = f"SELECT {key} FROM {table} WHERE {where} ORDER BY {order} LIMIT {most}"
        return self.count(f"DELETE FROM {table} WHERE ({key}) IN ({wanted})", values)

    def keep_newest(self, table: str, where: str, values: Sequence[Any], most: int) -> int:
        newest = f"SELECT number FROM {table} WHERE {where} ORDER BY number DESC LIMIT 1 OFFSET {most}"
        return self.count(f"DELETE FROM {table} WHERE {where} AND number <= ({newest})", (*values, *values))

    def lock_schema(self) -> None:
        return

    def notify(self, notice: str) -> None:
        return

    @abstractmethod
    def size(self) -> int:
        """Return the approximate bytes on disk."""
