"""What hands and senses take of the heap on a board that uses them: pins, a timer, a sense, all of them, and none."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import firmware_build
from heap_bench import REPLY, ROOMY_KILOBYTES, START, Bench, Case

_PINS = {
    "lamp": {"pin": 25, "mode": "out"},
    "door": {"pin": 14, "mode": "in", "pull": "up"},
    "fan": {"pin": 18, "mode": "pwm"},
    "soil": {"pin": 34, "mode": "adc"},
}
_SENSES = {"free heap": {"kind": "heap"}}
_PIN, _TIMER, _SENSE, _HELLO = "/pin lamp on", "/timers add tomorrow 8:00 water the plants", "/senses", "hello"
_PIN_SET, _TIMER_SET, _SENSE_READ = "lamp: on (", "I remind you: water the plants", "free heap: "

PACKAGES = ("tools", "timers", "senses", "senses/events", "senses/answers")


@dataclass(frozen=True)
class Use:
    """Settings of a board, and a conversation in which it uses what they name before a turn."""

    settings: dict[str, Any]
    case: Case


USES = (
    Use({}, Case("none", (_HELLO,), (REPLY,))),
    Use({"pins": _PINS}, Case("four pins", (_PIN, _HELLO), (_PIN_SET, REPLY))),
    Use({}, Case("a timer", (_TIMER, _HELLO), (_TIMER_SET, REPLY))),
    Use({"senses": _SENSES}, Case("a sense", (_SENSE, _HELLO), (_SENSE_READ, REPLY))),
    Use(
        {"pins": _PINS, "senses": _SENSES},
        Case("all three", (_PIN, _TIMER, _SENSE, _HELLO), (_PIN_SET, _TIMER_SET, _SENSE_READ, REPLY)),
    ),
)


@dataclass
class UseFigures:
    """What was measured of one build, by use: bytes, but for smallest_heap, which is in kilobytes."""

    at_start: dict[str, int] = field(default_factory=dict)
    in_use: dict[str, int] = field(default_factory=dict)  # after the turn
    smallest_heap: dict[str, int] = field(default_factory=dict)


def measure(bench: Bench) -> UseFigures:
    """The figures of a build on the bench's board, with the settings of each use beside its own."""
    figures = UseFigures()
    for use in USES:
        using, name = bench.with_settings(use.settings), use.case.name
        figures.at_start[name] = using.talk(START, ROOMY_KILOBYTES)["used"]
        figures.in_use[name] = using.talk(use.case, ROOMY_KILOBYTES)["used"]
        figures.smallest_heap[name], _ = using.smallest(use.case)
    return figures


def package_bytes() -> dict[str, int]:
    """The bytes of .mpy of each package of hands and senses, compiled as for a board without PSRAM."""
    root = firmware_build.SMALL / "firmware" / "engram"
    sizes = Counter[str]()
    for file in root.rglob("*.mpy"):
        sizes[file.parent.relative_to(root).as_posix()] += file.stat().st_size
    return {package: sizes[package] for package in PACKAGES}
