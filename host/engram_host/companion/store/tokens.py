"""Tokens, the audit log, and daily usage of the gateway."""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engram_host.companion.store.damage import CHECKED, damaged_rows, is_sound, row_check
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows
from engram_host.companion.types import AuditEntry, DeviceToken, GatewayUse, OperatorToken

DAYS_KEPT = 400

ENTRIES_KEPT = 10000

ALL = ""

_TOKEN, _FORMER, _OPERATOR, _ENTRY = (
    CHECKED[name].columns for name in ("device_tokens", "former_tokens", "operator_tokens", "audit")
)


class TokenTable(DatabaseTable):
    """Tokens of boards and operators, by digest."""

    @writes
    def add_token(self, rows: Rows, token: DeviceToken) -> bool:
        values = (token.device, token.digest, token.mosquitto, token.made)
        sql = f"INSERT INTO device_tokens ({_TOKEN}, crc) VALUES (?, ?, ?, ?, ?) ON CONFLICT (device) DO NOTHING"
        rows.run(sql, (*values, row_check(values)))
        return _device_of(rows, token.digest) == token.device  # true also for a repeat

    @writes
    def replace_token(self, rows: Rows, token: DeviceToken, former_ends: int = 0) -> bool:
        """Replace a board's token; the old one works until `former_ends`. False if there was none."""
        is_new = _device_of(rows, token.digest) != token.device  # false for a repeat
        if is_new:
            rows.run("DELETE FROM former_tokens WHERE device = ?", (token.device,))
        if is_new and former_ends:
            for (digest,) in rows.run("SELECT digest FROM device_tokens WHERE device = ?", (token.device,)):
                former = (token.device, bytes(digest), former_ends)
                sql = f"INSERT INTO former_tokens ({_FORMER}, crc) VALUES (?, ?, ?, ?)"
                rows.run(sql, (*former, row_check(former)))
        values = (token.device, token.digest, token.mosquitto, token.made)
        sql = "UPDATE device_tokens SET digest = ?, mosquitto = ?, made = ?, crc = ? WHERE device = ?"
        return rows.count(sql, (*values[1:], row_check(values), token.device)) == 1

    @writes
    def remove_token(self, rows: Rows, device: str) -> bool:
        rows.run("DELETE FROM former_tokens WHERE device = ?", (device,))
        return rows.count("DELETE FROM device_tokens WHERE device = ?", (device,)) == 1

    @reads
    def tokens(self, rows: Rows) -> list[DeviceToken]:
        return [DeviceToken(*row) for row in rows.run(f"SELECT {_TOKEN} FROM device_tokens ORDER BY device")]

    @reads
    def damaged_rows(self, rows: Rows) -> list[str]:
        return damaged_rows(rows)

    @reads
    def former_tokens(self, rows: Rows, now: int) -> dict[str, int]:
        return dict(rows.run("SELECT device, ends FROM former_tokens WHERE ends > ?", (now,)))

    @reads
    def device_of(self, rows: Rows, digest: bytes, now: int = 0) -> str:
        """Return the board of a token by SHA-256, a former one if still valid `now`; "" if none."""
        return _device_of(rows, digest) or (_former_device_of(rows, digest, now) if now else "")

    # --- operators

    @writes
    def add_operator_token(self, rows: Rows, token: OperatorToken) -> bool:
        values = (token.name, token.digest, int(token.is_read_only), token.made, token.ends)
        sql = f"INSERT INTO operator_tokens ({_OPERATOR}, crc) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
        rows.run(sql, (*values, row_check(values)))
        kept = _operator_of(rows, token.digest)
        return kept is not None and kept.name == token.name  # true also for a repeat

    @writes
    def remove_operator_token(self, rows: Rows, name: str) -> bool:
        return rows.count("DELETE FROM operator_tokens WHERE name = ?", (name,)) == 1

    @reads
    def operator_tokens(self, rows: Rows) -> list[OperatorToken]:
        return [_operator(row) for row in rows.run(f"SELECT {_OPERATOR} FROM operator_tokens ORDER BY name")]

    @reads
    def operator_of(self, rows: Rows, digest: bytes, now: int) -> OperatorToken | None:
        """Return the operator token of a SHA-256, None if it is unknown or has ended `now`."""
        token = _operator_of(rows, digest)
        return None if token and token.ends and token.ends <= now else token


def _device_of(rows: Rows, digest: bytes) -> str:
    return _holder(rows.run(f"SELECT {_TOKEN}, crc FROM device_tokens WHERE digest = ?", (digest,)), digest)


def _former_device_of(rows: Rows, digest: bytes, now: int) -> str:
    sql = f"SELECT {_FORMER}, crc FROM former_tokens WHERE digest = ? AND ends > ?"
    return _holder(rows.run(sql, (digest, now)), digest)


def _holder(found: Iterable[Sequence[Any]], digest: bytes) -> str:
    sound = (row for row in found if is_sound(row))
    return next((device for device, kept, *_ in sound if hmac.compare_digest(bytes(kept), digest)), "")


def _operator_of(rows: Rows, digest: bytes) -> OperatorToken | None:
    sound = filter(is_sound, rows.run(f"SELECT {_OPERATOR}, crc FROM operator_tokens WHERE digest = ?", (digest,)))
    found = (_operator(row[:-1]) for row in sound)
    return next((token for token in found if hmac.compare_digest(token.digest, digest)), None)


def _operator(row: Sequence[Any]) -> OperatorToken:
    name, digest, is_read_only, made, ends = row
    return OperatorToken(name, bytes(digest), bool(is_read_only), made, ends)


DAMAGED = "damaged"


class AuditTable(DatabaseTable):
    """The audit log."""

    @writes
    def add_audit(self, rows: Rows, entry: AuditEntry) -> None:
        values = (entry.at, entry.who, entry.action, entry.outcome, entry.address)
        sql = "INSERT INTO audit (at, who, action, outcome, address, crc) VALUES (?, ?, ?, ?, ?, 0) RETURNING number"
        ((number,),) = rows.run(sql, values)
        rows.run("UPDATE audit SET crc = ? WHERE number = ?", (row_check((*values, number)), number))
        sql = "DELETE FROM audit WHERE number <= (SELECT number FROM audit ORDER BY number DESC LIMIT 1 OFFSET ?)"
        rows.run(sql, (ENTRIES_KEPT,))

    @reads
    def audit(self, rows: Rows, limit: int, before: int = 0) -> list[AuditEntry]:
        """Return entries below `before`, newest first; damaged ones have the outcome DAMAGED."""
        where, values = ("WHERE number < ?", (before,)) if before else ("", ())
        sql = f"SELECT {_ENTRY}, crc FROM audit {where} ORDER BY number DESC LIMIT ?"
        return [_entry(row) for row in rows.run(sql, (*values, limit))]


def _entry(row: Sequence[Any]) -> AuditEntry:
    at, who, action, outcome, address, number, _ = row
    return AuditEntry(at, who, action, outcome if is_sound(row) else DAMAGED, address, number)


class GatewayUseTable(DatabaseTable):
    """Calls and tokens per board and in total, by days since 1970."""

    @reads
    def gateway_used(self, rows: Rows, day: int) -> dict[str, GatewayUse]:
        return _used(rows, day)

    @writes
    def begin_call(self, rows: Rows, day: int, device: str, tokens: int, limits: Mapping[str, GatewayUse]) -> str:
        """Count a call and reserve tokens; return the limit reached, such as "device calls", else ""."""
        names = {"all": ALL, "device": device}
        for key in sorted(set(names.values())):  # in one order, so that two transactions never deadlock
            rows.run(
                "INSERT INTO gateway_use (day, device, calls, tokens) VALUES (?, ?, 0, 0) "
                "ON CONFLICT (day, device) DO NOTHING",
                (day, key),
            )
            rows.run(f"SELECT calls FROM gateway_use WHERE day = ? AND device = ?{rows.for_update}", (day, key))
        there = _used(rows, day)
        for name, limit in limits.items():
            use = there[names[name]]
            if limit.calls and use.calls >= limit.calls:
                return f"{name} calls"
            if limit.tokens and use.tokens >= limit.tokens:
                return f"{name} tokens"
        _add(rows, day, device, GatewayUse(1, tokens))
        rows.run("DELETE FROM gateway_use WHERE day < ?", (day - DAYS_KEPT,))
        return ""

    @writes
    def end_call(self, rows: Rows, day: int, device: str, tokens: int, cost: int = 0) -> None:
        """Add a call's cost and the difference to its reserved tokens."""
        _add(rows, day, device, GatewayUse(0, tokens, cost))


def _used(rows: Rows, day: int) -> dict[str, GatewayUse]:
    sql = "SELECT device, calls, tokens, cost FROM gateway_use WHERE day = ? ORDER BY device"
    return {device: GatewayUse(*numbers) for device, *numbers in rows.run(sql, (day,))}


def _add(rows: Rows, day: int, device: str, use: GatewayUse) -> None:
    for key in sorted({ALL, device}):
        sql = "UPDATE gateway_use SET calls = calls + ?, tokens = tokens + ?, cost = cost + ? WHERE day = ? AND device = ?"
        rows.run(sql, (use.calls, use.tokens, use.cost, day, key))
