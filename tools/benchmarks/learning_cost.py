#!/usr/bin/env python3
"""What it costs to find facts in 100 messages: calls of the model and tokens, as the board counts them.

    learning_cost.py [SETS]

Runs a board on MicroPython against the scripted server, which finds one fact in every third message. The messages are turns
of the sets that `make eval` uses, or made up where there are none. Each message is read by itself, and then all of them in
batches, as when they come fast. Tokens are those of the requests, which are sent for real, counted as bytes / 4.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[2] / name) for name in ("host", "tools/setup", "tests/support/servers")
)

import get_micropython
from fake_llm import ScriptRule, Serving, read_rule, serving

ROOT = Path(__file__).resolve().parents[2]
SETS = ROOT.parent / "shared" / "data" / "locomo"
MESSAGES = 100
SECONDS = 60.0
ANSWERED = 0.3


def messages(folder: Path) -> list[str]:
    """So many things that people said."""
    found: list[str] = []
    for path in sorted(folder.glob("*/turns.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [json.loads(line)["text"] for line in lines if not line.startswith("/")]
    made_up = [f"yesterday I put tool {number} on shelf {number % 7} of the cellar" for number in range(MESSAGES)]
    return [text.replace("\n", " ") for text in (found or made_up)[:MESSAGES]]


def rules(said: list[str]) -> list[ScriptRule]:
    """A model that answers each message briefly, and finds a fact in every third one."""
    found = []
    for number in range(0, len(said), 3):
        fact = {"op": "add", "from": f"t{3 + 2 * number}", "content": said[number][:200], "tags": ["note"]}
        when = {"offers": False, "contains": f"[t{3 + 2 * number} "}
        found.append({"when": when, "reply": json.dumps([fact], ensure_ascii=False)})
    found += [{"when": {"offers": False}, "reply": "[]"}, {"reply": "I see."}]
    return [read_rule(rule) for rule in found]


def talk(said: list[str], server: Serving, folder: Path, one_by_one: bool) -> tuple[int, int, int]:
    """Say all messages to a board; (calls, tokens for facts, tokens for replies)."""
    settings = {"extract.pause_seconds": 0 if one_by_one else 3, "flush.on": False, "console.prompt": False}
    environment = {
        **os.environ,
        "ENGRAM_HOME": str(folder),
        "ENGRAM_LLM_URL": server.url + "/v1",
        "ENGRAM_LLM_MODEL": "m",
        "ENGRAM_SETTINGS": json.dumps(settings),
        "PYTHONPATH": str(ROOT / "host"),
    }
    command = [sys.executable, "-m", "engram_host.simulator"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment, text=True
    ) as board:
        assert board.stdin is not None
        for number, text in enumerate(said):
            board.stdin.write(text + "\n")
            board.stdin.flush()
            _wait(server, lambda number=number: _replies(server) > number)
            if one_by_one:
                _wait(server, lambda number=number: f"[t{3 + 2 * number} " in _last_reading(server))
                # The answer is on its way: the next message would break it off.
                time.sleep(ANSWERED)
        _wait(server, lambda: f"[t{3 + 2 * (len(said) - 1)} " in _last_reading(server))
        board.stdin.close()
    readings, replies = _requests(server)
    return len(readings), _tokens(readings), _tokens(replies)


def _requests(server: Serving) -> tuple[list[bytes], list[bytes]]:
    """The requests for facts, and those for replies, which offer tools."""
    sent = [request.raw for request in server.requests]
    return [raw for raw in sent if b'"tools":' not in raw], [raw for raw in sent if b'"tools":' in raw]


def _replies(server: Serving) -> int:
    return len(_requests(server)[1])


def _last_reading(server: Serving) -> str:
    readings = _requests(server)[0]
    return readings[-1].decode() if readings else ""


def _tokens(requests: list[bytes]) -> int:
    return sum(len(raw) // 4 for raw in requests)


def _wait(server: Serving, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the board did not go on after {len(server.requests)} requests")
        time.sleep(0.02)


def main(arguments: list[str]) -> int:
    """Measure both ways and print them; status 1 where there is no MicroPython."""
    parser = argparse.ArgumentParser(
        description=f"Count the calls and tokens that it takes to learn from {MESSAGES} messages."
    )
    parser.add_argument("sets", nargs="?", type=Path, default=SETS, metavar="SETS", help="folder of conversations")
    given = parser.parse_args(arguments)
    if get_micropython.main(["64"]):
        return 1
    said = messages(given.sets)
    for how, one_by_one in (("each message by itself", True), ("messages that come fast", False)):
        with tempfile.TemporaryDirectory() as folder, serving(rules(said)) as server:
            calls, tokens, replies = talk(said, server, Path(folder), one_by_one)
        print(f"{how}: {len(said)} messages, {calls} calls, {tokens} tokens; the replies took {replies}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
