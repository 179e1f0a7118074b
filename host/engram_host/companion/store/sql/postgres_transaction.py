"""One transaction of PostgreSQL, and whether it has happened if its connection broke at the COMMIT."""

import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import errors

from engram_host.companion.store.database import Result
from engram_host.companion.store.queries import Rows

WRITE = b"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_current_xact_id()::text"
"""It gives the number of the transaction, by which the server knows later whether it has happened."""

READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

STATUS_SECONDS = 10.0
"""How long the end of a transaction is waited for whose connection broke."""

_PAUSE_SECONDS = 0.05
_STATUS = b"SELECT pg_xact_status(%s::xid8)"


class ConnectionLost(psycopg.OperationalError):
    """The connection broke; `number` is that of the transaction if it broke at its COMMIT, `result` what its work gave."""

    def __init__(self, error: psycopg.Error, number: str, result: Any):
        super().__init__(*error.args)
        self.number = number
        self.result = result


def run_transaction(
    connection: "psycopg.Connection[Any]", begin: bytes, rows: Rows, work: Callable[[Rows], Result]
) -> Result:
    """Do work in one transaction: all of it has happened, or nothing. With no `begin` each statement is one by itself, which
    spares the way to the server and back twice. ConnectionLost, and what psycopg raises.
    """
    number = ""
    result: Any = None
    try:
        begun = _begin(connection, begin)
        result = work(rows)
        rows.flush()
        number = begun
        if begin:
            connection.execute("COMMIT")
    except BaseException as error:
        _roll_back(connection)
        if connection.closed and isinstance(error, psycopg.Error):
            raise ConnectionLost(error, number, result) from error
        raise
    return result


def is_committed(connection: "psycopg.Connection[Any]", number: str) -> bool:
    """Whether the transaction of a number has happened, after its connection was lost at its COMMIT."""
    until = time.monotonic() + STATUS_SECONDS
    while True:
        try:
            ((status,),) = connection.execute(_STATUS, (number,)).fetchall()
        except errors.InvalidParameterValue:
            return False  # another server has taken over, and has not seen it
        if status != "in progress":
            return status == "committed"
        if time.monotonic() > until:
            raise psycopg.OperationalError("a transaction on a connection that broke has not ended yet")
        time.sleep(_PAUSE_SECONDS)


def _begin(connection: "psycopg.Connection[Any]", begin: bytes) -> str:
    """Begin a transaction; the number of one that writes, else ""."""
    if begin:
        cursor = connection.execute(begin)
        if cursor.nextset():
            ((number,),) = cursor.fetchall()
            return number
    return ""


def _roll_back(connection: "psycopg.Connection[Any]") -> None:
    """End a transaction, or the connection with it if that cannot be."""
    try:
        if not connection.closed:
            connection.execute("ROLLBACK")
    except psycopg.Error:
        connection.close()
