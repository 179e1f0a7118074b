"""Tokens, browser sessions, the audit log, and daily usage of the gateway."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.rows import Rows, columns_of, read_row, row_values
from engram_host.companion.types import AuditEntry, DeviceToken, GatewayUse, OperatorToken

ENTRIES_KEPT = 10000

ALL = ""

_TOKEN, _OPERATOR = columns_of(DeviceToken), columns_of(OperatorToken)


class TokenTable(DatabaseTable):
    @writes
    def add_token(self, rows: Rows, token: DeviceToken) -> bool:
        rows.insert("device_tokens", row_values(token), "ON CONFLICT (device) DO NOTHING")
        return _device_of(rows, token.digest) == token.device  # true also for a repeat

    @writes
    def replace_token(self, rows: Rows, token: DeviceToken, former_ends: int = 0) -> bool:
        is_new = _device_of(rows, token.digest) != token.device  # false for a repeat
        if is_new:
            rows.run("DELETE FROM former_tokens WHERE device = ?", (token.device,))
        if is_new and former_ends:
            former = "SELECT device, digest, ? FROM device_tokens WHERE device = ?"
            rows.run(f"INSERT INTO former_tokens (device, digest, ends) {former}", (former_ends, token.device))
        sql = "UPDATE device_tokens SET digest = ?, mosquitto = ?, made = ? WHERE device = ?"
        return rows.count(sql, (token.digest, token.mosquitto, token.made, token.device)) == 1

    @writes
    def remove_token(self, rows: Rows, device: str) -> bool:
        rows.run("DELETE FROM former_tokens WHERE device = ?", (device,))
        return rows.count("DELETE FROM device_tokens WHERE device = ?", (device,)) == 1

    @reads
    def tokens(self, rows: Rows) -> list[DeviceToken]:
        return [DeviceToken(*row) for row in rows.run(f"SELECT {_TOKEN} FROM device_tokens ORDER BY device")]

    @reads
    def former_tokens(self, rows: Rows, now: int) -> dict[str, int]:
        return dict(rows.run("SELECT device, ends FROM former_tokens WHERE ends > ?", (now,)))

    @reads
    def device_of(self, rows: Rows, digest: bytes, now: int = 0) -> str:
        former = rows.run("SELECT device, digest FROM former_tokens WHERE digest = ? AND ends > ?", (digest, now))
        return _device_of(rows, digest) or (_holder(former, digest) if now else "")

    # --- operators

    @writes
    def add_operator_token(self, rows: Rows, token: OperatorToken) -> bool:
        rows.insert("operator_tokens", row_values(token), "ON CONFLICT (name) DO NOTHING")
        return _holder(_operators(rows, token.digest), token.digest) == token.name  # true also for a repeat

    @writes
    def remove_operator_token(self, rows: Rows, name: str) -> bool:
        return rows.count("DELETE FROM operator_tokens WHERE name = ?", (name,)) == 1

    @reads
    def operator_tokens(self, rows: Rows) -> list[OperatorToken]:
        found = rows.run(f"SELECT {_OPERATOR} FROM operator_tokens ORDER BY name")
        return [read_row(OperatorToken, row) for row in found]

    @reads
    def operator_of(self, rows: Rows, digest: bytes, now: int) -> OperatorToken | None:
        found = _operators(rows, digest)
        token = read_row(OperatorToken, found[0]) if _holder(found, digest) else None
        return None if token and token.ends and token.ends <= now else token


def _device_of(rows: Rows, digest: bytes) -> str:
    return _holder(rows.run("SELECT device, digest FROM device_tokens WHERE digest = ?", (digest,)), digest)


def _operators(rows: Rows, digest: bytes) -> list[tuple[Any, ...]]:
    return rows.run(f"SELECT {_OPERATOR} FROM operator_tokens WHERE digest = ?", (digest,))


def _holder(found: Sequence[Sequence[Any]], digest: bytes) -> str:
    return next((name for name, kept, *_ in found if hmac.compare_digest(kept, digest)), "")


# --- sessions of browsers


@dataclass(frozen=True)
class PageSession:
    digest: bytes = field(repr=False)
    token: bytes = field(repr=False)
    is_read_only: bool
    made: int
    used: int
    ends: int


@dataclass(frozen=True)
class PageCode:
    digest: bytes = field(repr=False)
    token: bytes = field(repr=False)
    is_local: bool
    ends: int


MOST_SESSIONS = 1000

MOST_CODES = 100


class PageSessionTable(DatabaseTable):
    @writes
    def add_session(self, rows: Rows, session: PageSession) -> None:
        rows.insert("page_sessions", row_values(session), "ON CONFLICT (digest) DO NOTHING")
        rows.run("DELETE FROM page_sessions WHERE ends <= ?", (session.made,))
        kept = "SELECT digest FROM page_sessions ORDER BY used DESC, digest LIMIT ?"
        rows.run(f"DELETE FROM page_sessions WHERE digest NOT IN ({kept})", (MOST_SESSIONS,))

    @reads
    def page_session(self, rows: Rows, digest: bytes, now: int) -> PageSession | None:
        sql = f"SELECT {columns_of(PageSession)} FROM page_sessions WHERE digest = ?"
        found = [read_row(PageSession, row) for row in rows.run(sql, (digest,))]
        return next((each for each in found if hmac.compare_digest(each.digest, digest) and each.ends > now), None)

    @writes
    def mark_session_used(self, rows: Rows, digest: bytes, now: int) -> None:
        rows.run("UPDATE page_sessions SET used = ? WHERE digest = ? AND used < ?", (now, digest, now))

    @writes
    def end_session(self, rows: Rows, digest: bytes) -> bool:
        return rows.count("DELETE FROM page_sessions WHERE digest = ?", (digest,)) == 1

    @writes
    def end_sessions_of(self, rows: Rows, token: bytes) -> int:
        rows.run("DELETE FROM page_codes WHERE token = ?", (token,))
        return rows.count("DELETE FROM page_sessions WHERE token = ?", (token,))

    @writes
    def add_page_code(self, rows: Rows, code: PageCode, now: int) -> None:
        rows.run("DELETE FROM page_codes WHERE ends <= ?", (now,))
        kept = "SELECT digest FROM page_codes ORDER BY ends DESC, digest LIMIT ?"
        rows.run(f"DELETE FROM page_codes WHERE digest NOT IN ({kept})", (MOST_CODES - 1,))
        rows.insert("page_codes", row_values(code), "ON CONFLICT (digest) DO NOTHING")

    @writes
    def take_page_code(self, rows: Rows, digest: bytes, now: int, *, is_local: bool) -> PageCode | None:
        # One of two concurrent uses gets the row.
        where = "WHERE digest = ? AND ends > ? AND is_local <= ?"
        sql = f"DELETE FROM page_codes {where} RETURNING {columns_of(PageCode)}"
        found = rows.run(sql, (digest, now, int(is_local)))
        return read_row(PageCode, found[0]) if found else None


# --- the audit log


class AuditTable(DatabaseTable):
    @writes
    def add_audit(self, rows: Rows, entry: AuditEntry) -> None:
        values = row_values(entry)
        del values["number"]
        rows.insert("audit", values)
        rows.keep_newest("audit", "number > 0", (), ENTRIES_KEPT)

    @reads
    def audit(self, rows: Rows, limit: int, before: int = 0) -> list[AuditEntry]:
        where, values = ("WHERE number < ?", (before,)) if before else ("", ())
        sql = f"SELECT {columns_of(AuditEntry)} FROM audit {where} ORDER BY number DESC LIMIT ?"
        return [AuditEntry(*row) for row in rows.run(sql, (*values, limit))]


# --- the gateway


class GatewayUseTable(DatabaseTable):
    @reads
    def gateway_used(self, rows: Rows, day: int) -> dict[str, GatewayUse]:
        return _used(rows, day)

    @writes
    def begin_call(self, rows: Rows, day: int, device: str, tokens: int, limits: Mapping[str, GatewayUse]) -> str:
        names = {"all": ALL, "device": device}
        for key in sorted(set(names.values())):  # in one order, so that two transactions never deadlock
            values = {"day": day, "device": key, "calls": 0, "tokens": 0}
            rows.insert("gateway_use", values, "ON CONFLICT (day, device) DO NOTHING")
            rows.run(f"SELECT calls FROM gateway_use WHERE day = ? AND device = ?{rows.for_update}", (day, key))
        there = _used(rows, day)
        for name, limit in limits.items():
            use = there[names[name]]
            if limit.calls and use.calls >= limit.calls:
                return f"{name} calls"
            if limit.tokens and use.tokens >= limit.tokens:
                return f"{name} tokens"
        _add(rows, day, device, GatewayUse(1, tokens))
        return ""

    @writes
    def end_call(self, rows: Rows, day: int, device: str, tokens: int) -> None:
        _add(rows, day, device, GatewayUse(0, tokens))


def _used(rows: Rows, day: int) -> dict[str, GatewayUse]:
    sql = "SELECT device, calls, tokens FROM gateway_use WHERE day = ? ORDER BY device"
    return {device: GatewayUse(*numbers) for device, *numbers in rows.run(sql, (day,))}


def _add(rows: Rows, day: int, device: str, use: GatewayUse) -> None:
    for key in sorted({ALL, device}):
        sql = "UPDATE gateway_use SET calls = calls + ?, tokens = tokens + ? WHERE day = ? AND device = ?"
        rows.run(sql, (use.calls, use.tokens, day, key))
