"""A database as the store's tables use it: work is done in transactions, each of which gets the rows."""

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from engram_host.companion.store import migrate
from engram_host.companion.store.queries import Rows

Result = TypeVar("Result")
Options = ParamSpec("Options")
AnyTable = TypeVar("AnyTable", bound="Table")


class Database(ABC):
    """Connections, transactions and errors of one kind of database. Calls block and may come from any thread."""

    name = ""
    """What people call it."""

    dialect = ""
    """The folder of its migrations."""

    @abstractmethod
    def connect(self) -> None:
        """Make sure that there is a database; StoreUnavailable."""

    @abstractmethod
    def close(self) -> None:
        """Let all connections go."""

    @abstractmethod
    def write(self, work: Callable[[Rows], Result]) -> Result:
        """Do work in one transaction that is on disk at the end; StoreUnavailable, and then nothing of it has happened."""

    @abstractmethod
    def read(self, work: Callable[[Rows], Result]) -> Result:
        """Do work that only reads, on one state of the database; StoreUnavailable."""

    def read_once(self, work: Callable[[Rows], Result]) -> Result:
        """Do work that is one SELECT; a database may spare it the transaction. StoreUnavailable."""
        return self.read(work)

    def migrate(self) -> list[str]:
        """Bring the schema up to date; what was done to it, a sentence for each migration."""
        steps = migrate.known(self.dialect)
        done: list[str] = []
        while sentence := self.write(lambda rows: migrate.step(rows, steps, int(time.time()))):
            done.append(sentence)
        return done


class Table:
    """Some tables of a database, and all that is done to them.

    A method that reads() or writes() decorate is one transaction: it is written with that transaction's rows as its first
    argument, and called without them. Each may raise StoreUnavailable.
    """

    def __init__(self, database: Database):
        self.database = database


def reads(
    method: Callable[Concatenate[AnyTable, Rows, Options], Result],
) -> Callable[Concatenate[AnyTable, Options], Result]:
    """Run a table's method in a transaction that only reads, on one state of the database."""

    @functools.wraps(method)
    def call(self: AnyTable, *args: Options.args, **options: Options.kwargs) -> Result:
        return self.database.read(lambda rows: method(self, rows, *args, **options))

    return call


def reads_once(
    method: Callable[Concatenate[AnyTable, Rows, Options], Result],
) -> Callable[Concatenate[AnyTable, Options], Result]:
    """Run a table's method whose SELECT needs no other one's state, without a transaction where that is faster."""

    @functools.wraps(method)
    def call(self: AnyTable, *args: Options.args, **options: Options.kwargs) -> Result:
        return self.database.read_once(lambda rows: method(self, rows, *args, **options))

    return call


def writes(
    method: Callable[Concatenate[AnyTable, Rows, Options], Result],
) -> Callable[Concatenate[AnyTable, Options], Result]:
    """Run a table's method in a transaction that is on disk when the call returns; an exception leaves nothing of it."""

    @functools.wraps(method)
    def call(self: AnyTable, *args: Options.args, **options: Options.kwargs) -> Result:
        return self.database.write(lambda rows: method(self, rows, *args, **options))

    return call
