"""The real board, under MicroPython, is set over the link: by its own rules, for its owner, with secrets that stay there."""

import json
from pathlib import Path
from typing import Any

from peers import BoardProcess, Companion
from skips import needs_64_bit
from waiting import wait_until

pytestmark = needs_64_bit


OWNER: dict[str, Any] = {"companion.chat": "owner"}


def path(device: str = "kitchen") -> str:
    return f"/v1/boards/{device}/settings"


def shown(companion: Companion, device: str = "kitchen") -> dict[str, Any]:
    return companion.client.get(path(device)).json()


def change(companion: Companion, name: str, value: str, device: str = "kitchen") -> dict[str, Any]:
    """Ask for a change, and wait for what came of it."""
    mid = companion.client.post(path(device), json={"name": name, "value": value}).json()["said"]["mid"]
    ended = wait_until("the board answers", lambda: _ended(companion, device, mid))
    assert ended
    return ended


def _ended(companion: Companion, device: str, mid: str) -> dict[str, Any] | None:
    found = shown(companion, device)["recent"]
    return next(
        (each for each in found if each["message"]["said"]["mid"] == mid and each["message"]["state"] == "done"), None
    )


def test_a_board_lists_and_changes_its_settings_for_its_owner(companion: Companion, tmp_path: Path):
    home = tmp_path / "board"
    with BoardProcess(home, companion.url, "kitchen", **OWNER):
        wait_until("it is known", lambda: companion.client.get("/v1/devices/kitchen").status_code == 200)
        companion.client.post(f"{path()}/read")
        wait_until("it has listed what is set", lambda: shown(companion)["read_at"])
        assert "llm.retries" not in shown(companion)["values"]
        assert change(companion, "llm.retries", "7")["answer"]["problems"] == []
        assert change(companion, "senses.tell", 'zwei Wörter "hier"')["answer"]["problems"] == []
        assert change(companion, "llm.key", "sk-secret-42")["message"]["said"]["text"] == "/setting llm.key"
        assert shown(companion)["values"] | {"llm.retries": 7, "llm.key": None} == shown(companion)["values"]
        before = shown(companion)["read_at"]
        companion.client.post(f"{path()}/read")
        wait_until("it has listed them again", lambda: shown(companion)["read_at"] > before or not _is_open(companion))
        assert shown(companion)["values"]["senses.tell"] == 'zwei Wörter "hier"'
    assert json.loads((home / "config.json").read_text())["llm"] == {"retries": 7}
    assert json.loads((home / "secrets.json").read_text()) == {"llm": {"key": "sk-secret-42"}}
    for log in home.rglob("*"):
        assert log.name == "secrets.json" or not log.is_file() or b"sk-secret-42" not in log.read_bytes(), log


def _is_open(companion: Companion) -> bool:
    return any(
        each["message"]["state"] not in ("done", "cancelled", "undeliverable") for each in shown(companion)["recent"]
    )
