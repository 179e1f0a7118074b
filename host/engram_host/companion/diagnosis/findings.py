"""Results of checks, with advice."""

from dataclasses import dataclass

from engram_host.sentences import SentenceTable

WELL, WATCH, WRONG = "well", "watch", "wrong"

CHECKS = SentenceTable("check_result")

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
