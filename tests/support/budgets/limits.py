"""What the firmware may cost: tests/budgets/limits.json, an object with a budget in each line.

limits      the limit, and those that it had before it, the first one first
measured    what was measured when the limit was set
goal        what it is to become; absent where there is none
why         for each time that the limit was raised the line of CHANGELOG.md that says why
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "budgets" / "limits.json"


@dataclass(frozen=True)
class Budget:
    """One row of the file."""

    name: str
    limits: tuple[float, ...]
    measured: float
    goal: float | None = None
    why: tuple[str, ...] = ()

    @property
    def limit(self) -> float:
        return self.limits[-1]

    @property
    def raises(self) -> int:
        """How often the limit was raised."""
        return sum(later > earlier for earlier, later in zip(self.limits, self.limits[1:], strict=False))


def read(text: str) -> dict[str, Budget]:
    """The budgets by name; ValueError or TypeError if one is of another form."""
    rows: dict[str, Any] = json.loads(text)
    return {
        name: Budget(name, tuple(row.pop("limits")), row.pop("measured"), row.pop("goal", None), **_why(row))
        for name, row in rows.items()
    }


def _why(row: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) for key, value in row.items()}


def unexplained(budgets: Mapping[str, Budget], changelog: str) -> list[str]:
    """A sentence for each limit that was raised though no line of the changelog says why."""
    text = " ".join(changelog.split())
    found = []
    for budget in budgets.values():
        if len(budget.why) != budget.raises:
            found.append(f"{budget.name}: was raised {budget.raises} times, `why` has {len(budget.why)} lines")
        found += [
            f"{budget.name}: CHANGELOG.md lacks: {why}" for why in budget.why if " ".join(why.split()) not in text
        ]
    return found


def over(budgets: Mapping[str, Budget], figures: Mapping[str, float]) -> str:
    """A table of all figures if one of them is over its limit, else ""."""
    if all(value <= budgets[name].limit for name, value in figures.items()):
        return ""
    rows = [("budget", "limit", "now", "")]
    for name, value in figures.items():
        limit = budgets[name].limit
        rows.append(
            (name, f"{limit:g}" if limit < 1e5 else f"{limit:.0f}", f"{value:.8g}", "OVER" if value > limit else "")
        )
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    lines = [f"{a:{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
    advice = "Make it cheaper. If it has to cost more: docs/design/testing.md says how a limit is raised."
    return "\n".join(["a budget is exceeded", "", *lines, "", advice])
