"""Statements that differ between the databases: execution, locks, vectors, notices and size."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from engram_host.companion.store.sql.statements import padded, placeholders
from engram_host.companion.vector_types import Vector


class SqlStatements(ABC):
    """Executes statements in one transaction; parameters are written `?`."""

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

    @abstractmethod
    def count(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute a statement and return the number of rows it changed."""

    def condition_in(self, column: str, numbers: Sequence[int]) -> tuple[str, Sequence[Any]]:
        """Return a condition for a column in a long list of numbers, and its values."""
        values = padded(numbers)
        return f"{column} IN ({placeholders(values)})", values

    @abstractmethod
    def pack(self, vector: Vector) -> Any:
        """Encode a vector for the database."""

    def unpack(self, value: Any) -> Vector:
        return self.unpack_all([value])[0]

    @abstractmethod
    def unpack_all(self, values: Sequence[Any]) -> Vector:
        """Decode vectors of one identity, a row each."""

    def delete_some(self, table: str, key: str, where: str, values: Sequence[Any], most: int, order: str) -> int:
        """Delete the first rows that match a condition, by an indexed column; return how many."""
        # Without ORDER BY and a literal LIMIT, the generic plan reads the whole table.
        wanted = f"SELECT {key} FROM {table} WHERE {where} ORDER BY {order} LIMIT {most}"
        return self.count(f"DELETE FROM {table} WHERE ({key}) IN ({wanted})", values)

    def read_by_index(self) -> None:
        """Force index scans in this transaction: an index still lists rows whose file was cut."""
        return

    def lock_schema(self) -> None:
        """Take the schema lock until the transaction ends (no-op on SQLite)."""
        return

    def notify(self, notice: str) -> None:
        return

    @abstractmethod
    def size(self) -> int:
        """Return the approximate bytes on disk."""
