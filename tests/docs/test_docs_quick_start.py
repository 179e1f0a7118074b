"""The API's quick start: each command of curl gets an answer of a companion that has a board."""

import asyncio
import shlex
import shutil
from pathlib import Path

import pytest

from pages import fences, read
from served_companion import Served, run

SHOWN = [line for fence in fences(read("docs/start/companion.md"), "bash") for line in fence.text.splitlines()]
TIMED_OUT = 28
"""The exit status of curl where an answer goes on, as a stream does while the board is away."""


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_each_command_of_the_quick_start_gets_an_answer(tmp_path: Path):
    async def ask(companion: Served) -> None:
        await companion.posted(companion.hello())
        await companion.posted(companion.says())
        for line in SHOWN:
            command = shlex.split(line.replace("http://127.0.0.1:8765", companion.running.web.url))
            curl = await asyncio.create_subprocess_exec(
                *command, "--silent", "--fail", "--max-time", "2", stdout=asyncio.subprocess.PIPE
            )
            told, _ = await curl.communicate()
            assert told, line
            assert curl.returncode in (0, TIMED_OUT), (line, told)

    assert len(SHOWN) == 5
    assert run(tmp_path / "home", ask) == []
