"""A companion that asks for tokens, the firmware in MicroPython's unix port on its link, and a scripted LLM behind the board.

A test makes its own memories there, and looks at them in the browser and on the board.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chromium import Tab
from device_tokens import make_tokens
from engram_host.companion.auth import tokens
from fake_llm import serving
from peers import BoardProcess, Companion
from waiting import wait_until

DEVICE = "kitchen"
HURRY = 20
"""How many times faster the board waits: it looks after its memory every quarter of a second."""

STALLED = "**Once** upon a time"
"""How far an answer of the LLM comes that never ends."""

ANSWER = "The tea is **green**:\n\n| tin | tea |\n|---|---|\n| blue | `sencha` |\n"

SCRIPT: list[dict[str, Any]] = [
    {"when": {"contains": "tell me a story"}, "reply": STALLED, "fault": {"kind": "stall", "after": len(STALLED)}},
    {"when": {"contains": "which tea"}, "reply": ANSWER},
    {
        "when": {"contains": "please keep that ", "result": False},
        "calls": [{"name": "memory_store", "arguments": {"content": "{rest}", "tags": ["kitchen"]}}],
    },
    {"when": {"result": "memory_store"}, "reply": "Kept as {result.id}."},
]


@dataclass(frozen=True)
class SimulatedKitchen:
    """The companion and its board."""

    companion: Companion
    board: BoardProcess

    @property
    def url(self) -> str:
        return self.companion.url

    @property
    def operator_token(self) -> str:
        return (self.companion.home / tokens.OPERATOR_FILE).read_text(encoding="utf-8").strip()

    def address(self, path: str = "") -> str:
        """Where a view of the board is."""
        return f"{self.url}/boards/{DEVICE}{path}"

    def sign_in(self, tab: Tab) -> None:
        """Sign in with the operator's token, as a person does."""
        tab.open(self.address())
        tab.fill("#token", self.operator_token)
        tab.click("main button")
        tab.wait("the view that was asked for is there", f"location.pathname === '/boards/{DEVICE}'")

    def keep(self, content: str) -> str:
        """Store a memory on the board; its id, once the companion has it."""
        self.board.answered("/import " + json.dumps({"content": content, "tags": ["kitchen"], "scope": "user:owner"}))
        found = next(line["id"] for line in self.board.lines("records") if line.get("content") == content)
        wait_until(f"the copy has {content}", lambda: self.copied(found) == content)
        return found

    def copied(self, entry: str) -> str | None:
        """The text of a memory in the companion's copy, if it is there."""
        answer = self.companion.client.get(f"/v1/boards/{DEVICE}/memories/{entry}")
        return answer.json()["entry"]["line"].get("content") if answer.status_code == 200 else None

    def shown(self, entry: str) -> str:
        """What the board itself shows of a memory."""
        return self.board.answered(f"/memory show {entry}")

    def contents(self, *wanted: str) -> list[str]:
        """Which of some texts the board has stored, in its order."""
        stored = [line["content"] for line in self.board.lines("records") if "content" in line]
        return [content for content in stored if content in wanted]

    def leave(self) -> None:
        """Switch the board off."""
        self.board.stop_quietly()

    def come_back(self) -> None:
        """Switch it on again."""
        self.board.start()


@contextmanager
def simulated_kitchen(folder: Path) -> Iterator[SimulatedKitchen]:
    """Run all three."""
    home = folder / "home"
    token = make_tokens(home, DEVICE)[DEVICE]
    with serving(SCRIPT) as llm, Companion(home, ENGRAM_TOKENS="on") as companion:
        operator = (home / tokens.OPERATOR_FILE).read_text(encoding="utf-8").strip()
        companion.client.headers["Authorization"] = f"Bearer {operator}"
        settings: dict[str, object] = {
            "companion.token": token,
            "companion.chat": "owner",
            "llm.url": f"{llm.url}/v1",
            "llm.key": "sk-test",
            "llm.model": "scripted",
            "extract.on": False,
        }
        with BoardProcess(folder / "board", companion.url, DEVICE, 0, HURRY, **settings) as board:
            wait_until("it is known", lambda: companion.client.get(f"/v1/devices/{DEVICE}").status_code == 200)
            yield SimulatedKitchen(companion, board)
