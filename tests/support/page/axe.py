"""axe-core looks at the view that a tab shows, and says what somebody could not see, hear or reach in it."""

import json
from importlib import resources
from typing import Any

from chromium import Tab

IMPACTS = ("serious", "critical")
"""Of what may not be found at all."""

_STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def load_axe(tab: Tab) -> None:
    """Put axe into the view that a tab shows; over the developer tools, which the view's policy does not concern."""
    tab.run((resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8") + ";0")


def find_serious_barriers(tab: Tab) -> list[str]:
    """What find_barriers() finds of the impacts that may not be there."""
    return [each for each in find_barriers(tab) if any(f"({impact})" in each for impact in IMPACTS)]


def find_barriers(tab: Tab) -> list[str]:
    """What axe finds in a view into which it was put: a line each with rule, impact, and where."""
    # Without a preload axe asks for no file again. It needs their text for rules only that are not among these.
    options = {"runOnly": {"type": "tag", "values": _STANDARDS}, "resultTypes": ["violations"], "preload": False}
    found: list[dict[str, Any]] = tab.run(
        f"axe.run(document, {json.dumps(options)}).then(({{violations}}) => violations.map((each) => "
        "({id: each.id, impact: each.impact, help: each.help, "
        "at: each.nodes.slice(0, 5).map((node) => node.html.slice(0, 160))})))"
    )
    return [f"{each['id']} ({each['impact']}): {each['help']}: {each['at']}" for each in found]
