"""Transactions of PostgreSQL, with a check of the outcome if the connection broke at COMMIT."""

import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import errors

from engram_host.companion.store.database import Result
from engram_host.companion.store.queries import Rows

WRITE = b"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_current_xact_id()::text"
"""Returns the transaction's number, for pg_xact_status() later."""

READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

STATUS_SECONDS = 10.0

_PAUSE_SECONDS = 0.05
_STATUS = b"SELECT pg_xact_status(%s::xid8)"


class ConnectionLost(psycopg.OperationalError):
    """A broken connection; at COMMIT, `number` is its transaction and `result` the work's result."""

    def __init__(self, error: psycopg.Error, number: str, result: Any):
        super().__init__(*error.args)
        self.number = number
        self.result = result


def run_transaction(
    connection: "psycopg.Connection[Any]", begin: bytes, rows: Rows, work: Callable[[Rows], Result]
) -> Result:
    """Run `work` atomically; with an empty `begin`, each statement commits by itself."""
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
    """True if a transaction committed whose connection broke at COMMIT."""
    until = time.monotonic() + STATUS_SECONDS
    while True:
        try:
            ((status,),) = connection.execute(_STATUS, (number,)).fetchall()
        except errors.InvalidParameterValue:
            return False  # another server has taken over without it
        if status != "in progress":
            return status == "committed"
        if time.monotonic() > until:
            raise psycopg.OperationalError("a transaction on a connection that broke has not ended yet")
        time.sleep(_PAUSE_SECONDS)


def _begin(connection: "psycopg.Connection[Any]", begin: bytes) -> str:
    if begin:
        cursor = connection.execute(begin)
        if cursor.nextset():
            ((number,),) = cursor.fetchall()
            return number
    return ""


def _roll_back(connection: "psycopg.Connection[Any]") -> None:
    try:
        if not connection.closed:
            connection.execute("ROLLBACK")
    except psycopg.Error:
        connection.close()
