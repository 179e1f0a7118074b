"""What the database keeps of who may come and how much they used: tokens of devices, and the gateway's counts of each day."""

import hmac
from collections.abc import Mapping

from engram_host.companion.store.queries import Rows
from engram_host.companion.types import DeviceToken, GatewayUse

DAYS_KEPT = 400
"""Days of which the gateway's counts are kept."""

ALL = ""
"""Stands for all devices together."""

_TOKEN = "device, digest, mosquitto, made"


def add_token(rows: Rows, token: DeviceToken) -> bool:
    """Keep the token of a device that has none; whether it had none."""
    values = (token.device, token.digest, token.mosquitto, token.made)
    sql = f"INSERT INTO device_tokens ({_TOKEN}) VALUES (?, ?, ?, ?) ON CONFLICT (device) DO NOTHING"
    rows.run(sql, values)
    return device_of(rows, token.digest) == token.device  # true also when it is done again


def replace_token(rows: Rows, token: DeviceToken) -> bool:
    """Put a token in the place of a device's old one; whether there was one."""
    values = (token.digest, token.mosquitto, token.made, token.device)
    return rows.count("UPDATE device_tokens SET digest = ?, mosquitto = ?, made = ? WHERE device = ?", values) == 1


def remove_token(rows: Rows, device: str) -> bool:
    """Forget the token of a device; whether there was one."""
    return rows.count("DELETE FROM device_tokens WHERE device = ?", (device,)) == 1


def tokens(rows: Rows) -> list[DeviceToken]:
    """All tokens, by device."""
    return [DeviceToken(*row) for row in rows.run(f"SELECT {_TOKEN} FROM device_tokens ORDER BY device")]


def device_of(rows: Rows, digest: bytes) -> str:
    """The device that has the token with a digest, "" if none has."""
    for device, kept in rows.run("SELECT device, digest FROM device_tokens WHERE digest = ?", (digest,)):
        if hmac.compare_digest(bytes(kept), digest):
            return device
    return ""


# --- the gateway


def used(rows: Rows, day: int) -> dict[str, GatewayUse]:
    """What each device used on a day, and under ALL what all did."""
    sql = "SELECT device, calls, tokens FROM gateway_use WHERE day = ? ORDER BY device"
    return {device: GatewayUse(calls, tokens) for device, calls, tokens in rows.run(sql, (day,))}


def begin_call(rows: Rows, day: int, device: str, tokens: int, limits: Mapping[str, GatewayUse]) -> str:
    """Count a call and the tokens that are set aside for it, unless a limit is reached; the limit's name, "" if none is.

    `limits` are those of `device` and of `all`; a limit of 0 is none. Its name is such as "device calls".
    """
    names = {"all": ALL, "device": device}
    for key in sorted(set(names.values())):  # in one order: so two transactions never wait for each other
        sql = "INSERT INTO gateway_use (day, device, calls, tokens) VALUES (?, ?, 0, 0) ON CONFLICT (day, device) DO NOTHING"
        rows.run(sql, (day, key))
        rows.run(f"SELECT calls FROM gateway_use WHERE day = ? AND device = ?{rows.for_update}", (day, key))
    there = used(rows, day)
    for name, limit in limits.items():
        use = there[names[name]]
        if limit.calls and use.calls >= limit.calls:
            return f"{name} calls"
        if limit.tokens and use.tokens >= limit.tokens:
            return f"{name} tokens"
    _add(rows, day, device, 1, tokens)
    rows.run("DELETE FROM gateway_use WHERE day < ?", (day - DAYS_KEPT,))
    return ""


def end_call(rows: Rows, day: int, device: str, tokens: int) -> None:
    """Count the difference between the tokens of a call and what was set aside for it."""
    _add(rows, day, device, 0, tokens)


def _add(rows: Rows, day: int, device: str, calls: int, tokens: int) -> None:
    for key in sorted({ALL, device}):
        sql = "UPDATE gateway_use SET calls = calls + ?, tokens = tokens + ? WHERE day = ? AND device = ?"
        rows.run(sql, (calls, tokens, day, key))
