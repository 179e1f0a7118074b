"""Results of checks, with advice."""

from dataclasses import dataclass

from engram_host.sentences import SentenceTable

WELL, WATCH, WRONG = "well", "watch", "wrong"

CHECKS = SentenceTable(
    "check_result",
    {
        "refused": "`engram serve` does not start with this setting",
        "unreadable": "cannot be looked at",
        "look_again": "{problem}: look again.",
        "disk": "{size} free for {folder}",
        "disk_full": "free space: the companion stops storing lines when the disk is full.",
        "disk_little": "free space before it is full; boards keep what is not copied.",
        "clock_early": "{time} is too early",
        "set_clock": "set the clock (NTP): the companion files what boards send under its time.",
        "folder_missing": "{folder} will be created at the first start",
        "folder_open": "other users can open {folder}",
        "file_missing": "{file} is not there",
        "replace_file": "put it there, or remove it from the settings.",
        "file_open": "other users can read {file}",
        "file_open_secrets": "other users can read {file}, and {names} in it",
        "file_private": "only its owner can read {file}",
        "tls": "on; its certificate ends {day}",
        "tls_ended": "on; its certificate ended {day}",
        "renew": "renew it, with `engram tls` if that made it, and restart the companion.",
        "gateway_key": "has its key",
        "gateway_no_key": "has no key",
        "set_key": "set {variable} if the service asks for one.",
        "no_alerts": "no alert is sent",
        "alerts": (
            "{n} address; `engram alert test` sends to each",
            "{n} addresses; `engram alert test` sends to each",
        ),
    },
)

REFUSED = CHECKS.say("refused")


@dataclass(frozen=True)
class Finding:
    """Result of a check: `detail` describes the state, `advice` the remedy or ""."""

    name: str
    state: str
    detail: str
    advice: str = ""


def well(name: str, detail: str) -> Finding:
    return Finding(name, WELL, detail)


def watch(name: str, detail: str, advice: str = "") -> Finding:
    return Finding(name, WATCH, detail, advice)


def wrong(name: str, detail: str, advice: str) -> Finding:
    return Finding(name, WRONG, detail, advice)
