"""A habit from the firmware's own events, by a model behind the gateway, to the firmware's own answer."""

import asyncio
import json
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

import get_micropython
from engram_host.companion.serving import start
from fake_llm.server import serving
from peers import BoardProcess
from served_companion import soon

DAY = 86400
SAID = tomllib.loads((Path(__file__).parents[2] / "data/habits/days.toml").read_text("utf-8"))["en"]
HABIT = "Goes climbing every ten days"


@pytest.mark.parametrize("api", ["openai", "anthropic"])
@pytest.mark.skipif(
    not get_micropython.usable(get_micropython.HOME / "64", 64), reason="there is no MicroPython for this machine"
)
def test_a_board_says_perhaps_of_a_habit_that_its_companion_found(tmp_path: Path, api: str):
    now = int(time.time())
    night = now // DAY * DAY + 4 * 3600

    async def play() -> tuple[str, list[Any]]:
        with serving() as model:
            verdict = json.dumps({"habit": HABIT, "for": [1, 2, 3], "against": []})
            model.add({"when": {"contains": "Is there a habit"}, "reply": verdict}, first=True)
            model.add({"when": {"contains": "Is there a habit"}, "fault": "400", "times": 1}, first=True)
            gateway = {"url": model.url + "/v1", "api": api, "model": "m"}
            flags = {("http", "port"): 0} | {("gateway", name): value for name, value in gateway.items()}
            async with start(tmp_path / "home", flags) as companion:
                with BoardProcess(
                    tmp_path / "board", companion.web.url, "kitchen", 0, 20, **{"companion.chat": "owner"}
                ) as board:
                    lines = [
                        *enumerate(SAID["others"]),
                        *(
                            (days, SAID["habits"][0][0].format(n=name))
                            for days, name in zip((30, 20, 10), SAID["names"], strict=True)
                        ),
                    ]
                    for days, line in lines:
                        event = {"content": line, "type": "event", "created": now - days * DAY}
                        await asyncio.to_thread(board.answered, "/import " + json.dumps(event))

                    async def found() -> str:
                        app, identity = companion.app, companion.app.embedding.identity
                        if identity and len(app.store.vectors.vectors("kitchen", identity, 0)) >= len(lines):
                            await app.habits.look(app.store.boards.device("kitchen"), night)
                        return await asyncio.to_thread(board.answered, "/recall climbing")

                    async def told() -> str | None:
                        return shown if HABIT in (shown := await found()) else None

                    shown = await soon("the board has the habit", told)
                    return shown, [json.loads(request.raw) for request in model.requests]

    shown, sent = asyncio.run(play())
    forms = [each.get("response_format", {}).get("type") for each in sent]
    assert forms[:2] == (["json_schema", "json_object"] if api == "openai" else [None, None])
    assert {each["temperature"] for each in sent} == {0}
    assert f"perhaps: {HABIT}" in shown
