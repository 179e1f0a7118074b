"""`engram stats`: how a companion is doing."""

from typing import TYPE_CHECKING, Any

from engram_host.cli import output
from engram_host.cli.options import DEFAULT_HOME, AsJson, Home, Url

if TYPE_CHECKING:
    from engram_host.cli.api_client import ApiClient

_AT_ONCE = 1000
"""Devices whose use of the gateway is asked for together."""

_LOGS = ("records", "journal")
_SHOWN = {
    "up_seconds": ("running for", lambda value: f"{value / 3600:.1f} h"),
    "devices": ("boards", str),
    "lines_taken": ("lines taken since then", str),
    "refused": ("messages refused since then", str),
    "waiting_batches": ("batches waiting", str),
    "backlog_lines": ("lines without a vector yet", str),
    "index_bytes": ("indexes in memory", output.size),
    "archived_records": ("memories archived here", str),
    "folder_files": ("files of folders", str),
    "folder_passages": ("passages of these", str),
    "database_bytes": ("database on disk", output.size),
}


def stats(url: Url = "", home: Home = DEFAULT_HOME, as_json: AsJson = False) -> None:
    """Show how the companion is doing, what it has of each board, and what is used of the gateway's limits. Asks the companion.

    Example: engram stats

    Example: engram stats --json
    """
    from engram_host.cli.api_client import ApiClient

    with ApiClient(url, home) as companion:
        health, figures = companion.get("/v1/health"), companion.get("/v1/stats")
        devices = companion.get("/v1/devices")
        gateway = _gateway(companion)
    if as_json:
        output.document({"health": health, "figures": figures, "devices": devices, "gateway": gateway})
        return
    rows = [("status", health["status"]), *((name, health[name]) for name in ("version", "store", "mqtt", "meaning"))]
    rows += [(title, form(figures[name])) for name, (title, form) in _SHOWN.items() if figures[name] is not None]
    output.table(("", ""), rows)
    for problem in health["problems"]:
        output.say(f"problem: {problem}")
    output.say("")
    boards = [
        (each["name"], output.moment(each["heard"]), *(each["logs"].get(log, {}).get("have", 0) for log in _LOGS))
        for each in devices
    ]
    output.table(("board", "heard", "records up to", "journal up to"), boards, empty="no board has been here yet.")
    if gateway["is_set_up"]:
        _show_gateway(gateway)


def _gateway(companion: "ApiClient") -> dict[str, Any]:
    """What is used of the gateway's limits, by all devices."""
    day = companion.get("/v1/gateway", limit=_AT_ONCE)
    following = day.pop("following")
    while following:
        page = companion.get("/v1/gateway", limit=_AT_ONCE, after=following)
        day["devices"] += page["devices"]
        following = page["following"]
    return day


def _show_gateway(day: dict[str, Any]) -> None:
    output.say("")
    output.say(f"used of the gateway's limits since {output.moment(day['begins'])}:")
    users = [("all together", day["used"], day["all_limit"])]
    users += [(one["device"], one, day["device_limit"]) for one in day["devices"]]
    rows = [(name, *(_of(used[what], limit[what]) for what in ("calls", "tokens"))) for name, used, limit in users]
    output.table(("", "calls", "tokens"), rows)


def _of(used: int, limit: int) -> str:
    return f"{used} of {limit}" if limit else str(used)
