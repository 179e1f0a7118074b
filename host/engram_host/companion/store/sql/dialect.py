"""What the two databases do in ways of their own: execute statements, lock, pack vectors, tell the time and the size."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from engram_host.companion.store.sql.statements import padded, placeholders
from engram_host.companion.vector_types import Vector


class SqlStatements(ABC):
    """Executes statements in one transaction; parameters are written `?`."""

    for_update = ""
    """What a SELECT ends with that locks its rows; SQLite locks the whole database when a transaction begins."""

    contains = "instr(line, ?) > 0"
    """The condition that a line has some bytes."""

    if_lost = "`engram restore` a backup, or `engram repair` sets aside what is lost."
    """What a person does about damaged lines that no board can send again."""

    @abstractmethod
    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Execute a statement; its rows."""

    @abstractmethod
    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement for each row of values."""

    @abstractmethod
    def script(self, sql: str) -> None:
        """Execute several statements, without values."""

    @abstractmethod
    def count(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute a statement; how many rows it changed."""

    def condition_in(self, column: str, numbers: Sequence[int]) -> tuple[str, Sequence[Any]]:
        """A condition that a column has one of some numbers, and the values of its `?`: of lists that may be long."""
        values = padded(numbers)
        return f"{column} IN ({placeholders(values)})", values

    @abstractmethod
    def pack(self, vector: Vector) -> Any:
        """A vector as the database takes it."""

    def unpack(self, value: Any) -> Vector:
        """A vector as the database gives it."""
        return self.unpack_all([value])[0]

    @abstractmethod
    def unpack_all(self, values: Sequence[Any]) -> Vector:
        """Some vectors of one identity as the database gives them, a row each."""

    def delete_some(self, table: str, key: str, where: str, values: Sequence[Any], most: int, order: str) -> int:
        """Remove the first rows of a table that fit a condition, in the order of an indexed column; how many."""
        # Without the order and the bound in the statement, the plan for any values reads the whole table.
        wanted = f"SELECT {key} FROM {table} WHERE {where} ORDER BY {order} LIMIT {most}"
        return self.count(f"DELETE FROM {table} WHERE ({key}) IN ({wanted})", values)

    def read_by_index(self) -> None:
        """Read tables by their keys until the transaction ends: an index knows of rows whose file was cut."""
        return

    def lock_schema(self) -> None:
        """Let nobody else change the schema until the transaction ends; where it locks the whole database it is done."""
        return

    def notify(self, notice: str) -> None:
        """Send a notice to all processes once the transaction is committed, where the database can."""
        return

    @abstractmethod
    def size(self) -> int:
        """Bytes of the database on disk, about."""
