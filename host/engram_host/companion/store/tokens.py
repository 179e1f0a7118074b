"""What the database keeps of who may come and how much they used: tokens of boards, and the gateway's counts of each day."""

import hmac
from collections.abc import Mapping

from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows
from engram_host.companion.types import DeviceToken, GatewayUse

DAYS_KEPT = 400
"""Days of which the gateway's counts are kept."""

ALL = ""
"""Stands for all boards together."""

_TOKEN = "device, digest, mosquitto, made"


class TokenTable(DatabaseTable):
    """The token of each board, as its digest."""

    @writes
    def add_token(self, rows: Rows, token: DeviceToken) -> bool:
        """Keep the token of a board that has none; whether it had none."""
        values = (token.device, token.digest, token.mosquitto, token.made)
        sql = f"INSERT INTO device_tokens ({_TOKEN}) VALUES (?, ?, ?, ?) ON CONFLICT (device) DO NOTHING"
        rows.run(sql, values)
        return _device_of(rows, token.digest) == token.device  # true also when it is done again

    @writes
    def replace_token(self, rows: Rows, token: DeviceToken) -> bool:
        """Put a token in the place of a device's old one; whether there was one."""
        values = (token.digest, token.mosquitto, token.made, token.device)
        return rows.count("UPDATE device_tokens SET digest = ?, mosquitto = ?, made = ? WHERE device = ?", values) == 1

    @writes
    def remove_token(self, rows: Rows, device: str) -> bool:
        """Forget the token of a board; whether there was one."""
        return rows.count("DELETE FROM device_tokens WHERE device = ?", (device,)) == 1

    @reads
    def tokens(self, rows: Rows) -> list[DeviceToken]:
        """The tokens of all boards, by name."""
        return [DeviceToken(*row) for row in rows.run(f"SELECT {_TOKEN} FROM device_tokens ORDER BY device")]

    @reads
    def device_of(self, rows: Rows, digest: bytes) -> str:
        """The board that has the token with a SHA-256, "" if none has."""
        return _device_of(rows, digest)


def _device_of(rows: Rows, digest: bytes) -> str:
    for device, kept in rows.run("SELECT device, digest FROM device_tokens WHERE digest = ?", (digest,)):
        if hmac.compare_digest(bytes(kept), digest):
            return device
    return ""


class GatewayUseTable(DatabaseTable):
    """Calls and tokens of each board and of all, by days since 1970."""

    @reads
    def gateway_used(self, rows: Rows, day: int) -> dict[str, GatewayUse]:
        """What each board used of the gateway on a day, and under ALL what all did."""
        return _used(rows, day)

    @writes
    def begin_call(self, rows: Rows, day: int, device: str, tokens: int, limits: Mapping[str, GatewayUse]) -> str:
        """Count a call of the gateway, and the tokens that are set aside for it, unless one of the limits of `device` and
        `all` (0: none) is reached; which one is, such as "device calls", else "".
        """
        names = {"all": ALL, "device": device}
        for key in sorted(set(names.values())):  # in one order: so two transactions never wait for each other
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
        """Count what a call used beyond what was set aside for it, less than 0 if it used less; and what it cost."""
        _add(rows, day, device, GatewayUse(0, tokens, cost))


def _used(rows: Rows, day: int) -> dict[str, GatewayUse]:
    sql = "SELECT device, calls, tokens, cost FROM gateway_use WHERE day = ? ORDER BY device"
    return {device: GatewayUse(*numbers) for device, *numbers in rows.run(sql, (day,))}


def _add(rows: Rows, day: int, device: str, use: GatewayUse) -> None:
    for key in sorted({ALL, device}):
        sql = "UPDATE gateway_use SET calls = calls + ?, tokens = tokens + ?, cost = cost + ? WHERE day = ? AND device = ?"
        rows.run(sql, (use.calls, use.tokens, use.cost, day, key))
