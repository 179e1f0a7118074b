"""A simulated board that talks over the fake of Telegram: the terminal is a chat with its bot, its console goes to a file."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from engram_host.simulator import board
from fake_telegram import FakeTelegram, chat_in_terminal

PERSON = "Ann"

CONSOLE = "console.txt"

_WELCOME = """\
{person} owns the board and chats with its bot; the board's console goes to {console}.
A line is a message to the bot; /? shows what else you can do, /help what the board does.
"""


def chat(environment: dict[str, str], waker: int) -> int:
    return asyncio.run(_chat(environment, waker))


async def _chat(environment: dict[str, str], waker: int) -> int:
    console = Path(environment["ENGRAM_HOME"]) / CONSOLE
    async with FakeTelegram() as server:
        variables = {
            **os.environ,
            **environment,
            "ENGRAM_TELEGRAM_URL": server.url,
            "ENGRAM_TELEGRAM_TOKEN": server.token,
        }
        with console.open("wb") as printed:
            process = await asyncio.create_subprocess_exec(
                *board.command(), stdin=asyncio.subprocess.PIPE, stdout=printed, stderr=printed, env=variables
            )
        sys.stdout.write(_WELCOME.format(person=PERSON, console=console))
        sys.stdout.flush()
        talk = asyncio.ensure_future(chat_in_terminal(server, [PERSON], sys.stdin.fileno(), sys.stdout))
        asyncio.get_running_loop().add_reader(waker, _take_signals, waker, talk)
        end = asyncio.ensure_future(process.wait())
        try:
            # The chat creates its person before its first wait.
            await asyncio.sleep(0)
            await _make_owner(server, process)
            await asyncio.wait((talk, end), return_when=asyncio.FIRST_COMPLETED)
        finally:
            asyncio.get_running_loop().remove_reader(waker)
            talk.cancel()
            status = await _end(process)
    if status:
        sys.stderr.write(console.read_text(errors="replace")[-2000:])
    return status


def _take_signals(waker: int, talk: asyncio.Future[None]) -> None:
    if any(number != signal.SIGCHLD for number in os.read(waker, 64)):
        talk.cancel()


async def _make_owner(server: FakeTelegram, process: asyncio.subprocess.Process) -> None:
    ref = f"telegram:{server.people.users[0].id}"
    assert process.stdin is not None
    process.stdin.write(f"/pair {ref} {PERSON.lower()}\n/people owner {ref}\n".encode())
    with contextlib.suppress(ConnectionError):  # it has ended; its console gives the reason
        await process.stdin.drain()


async def _end(process: asyncio.subprocess.Process) -> int:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(board.GRACE_SECONDS):
            return await process.wait()
    except TimeoutError:
        process.kill()
        return await process.wait()
