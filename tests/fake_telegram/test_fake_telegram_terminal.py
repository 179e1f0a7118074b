"""The fake Bot API for a person: the terminal, and the command that serves it."""

import asyncio
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from bot_api import SECONDS, BotApi, with_bot
from engram_host.fake_telegram import print_address
from engram_host.fake_telegram.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "host")}
COMMAND = [sys.executable, "-m", "engram_host.fake_telegram"]


class Screen(io.StringIO):
    def isatty(self):
        return True


def said(bot: BotApi) -> list[tuple[str, str, str]]:
    people = bot.server.people
    found = [message for chat in people.chats for message in people.messages(chat) if not message.service]
    return [(message.chat.title, message.sender.first_name, message.text) for message in found]


def test_lines_are_messages_and_commands_choose_who_writes_where():
    async def talk(bot: BotApi):
        terminal = Terminal(bot.server, ["Ann", "Bob"], io.StringIO())
        for line in ("hello", "/stats", "/as Bob", "hi", "/group Kitchen", "/a", "/as Ann", "/b", "/private", "//as x"):
            assert terminal.take_line(line)
        assert not terminal.take_line("/quit")
        assert said(bot) == [
            ("", "Ann", "hello"),
            ("", "Ann", "/stats"),
            ("", "Ann", "/as x"),
            ("", "Bob", "hi"),
            ("Kitchen", "Bob", "/a"),
            ("Kitchen", "Ann", "/b"),
        ]

    with_bot(talk)


def test_topics_edits_replies_and_files_are_sent(tmp_path):
    (tmp_path / "a.md").write_text("abc")

    async def talk(bot: BotApi):
        terminal = Terminal(bot.server, ["Ann"], out := io.StringIO())
        for line in ("/forum House", "/topic Garden", "one", "/edit two", f"/file {tmp_path}/a.md c", "/file gone"):
            terminal.take_line(line)
        forum = bot.server.people.chats[-1]
        created, edited, document = bot.server.people.messages(forum, thread_id=next(iter(forum.topics)))
        assert [version.text for version in edited.versions] == ["one", "two"]
        assert document.document is not None and document.document.data == b"abc"
        sent = await bot.result("sendMessage", chat_id=forum.id, text="a", message_thread_id=created.id)
        terminal.show()
        terminal.take_line("/reply yes")
        assert bot.server.people.messages(forum)[-1].reply_to is forum.messages[sent["message_id"]]
        assert "Engram in House, Garden: a\n" in out.getvalue() and "No such file" in out.getvalue()

    with_bot(talk)


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        (io.StringIO(), "(Engram is typing)\nEngram: one\nEngram (edited): one two\n"),
        (Screen(), "(Engram is typing)\nEngram: one\n\x1b[1A\x1b[JEngram: one two\n"),
    ],
)
def test_an_edit_is_written_over_the_message_on_a_terminal(out: io.StringIO, expected: str):
    async def talk(bot: BotApi):
        terminal = Terminal(bot.server, ["Ann"], out)
        terminal.take_line("hello")
        chat = bot.server.people.users[0].id
        await bot.result("sendChatAction", chat_id=chat, action="typing")
        terminal.show()
        sent = await bot.result("sendMessage", chat_id=chat, text="one")
        terminal.show()
        await bot.result("editMessageText", chat_id=chat, message_id=sent["message_id"], text="one two")
        terminal.show()
        assert out.getvalue() == expected

    with_bot(talk)


def test_the_command_serves_and_ends_with_its_input():
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        url = process.stdout.readline().removeprefix("listening on ").strip()
        token = process.stdout.readline().removeprefix("token ").strip()
        process.stdout.readline()
        process.stdin.write("hello\n")
        process.stdin.flush()
        (update,) = httpx.get(f"{url}/bot{token}/getUpdates?timeout=50", timeout=SECONDS).json()["result"]
        arguments = {"chat_id": update["message"]["chat"]["id"], "text": "hi"}
        assert httpx.post(f"{url}/bot{token}/sendMessage", json=arguments, timeout=SECONDS).json()["ok"]
        assert process.stdout.readline() == "Engram: hi\n"
        process.stdin.close()
        assert process.wait() == 0


def test_a_signal_ends_the_command():
    with subprocess.Popen([*COMMAND, "--no-chat"], stdout=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


def test_a_port_is_a_number():
    done = subprocess.run([*COMMAND, "--port", "x"], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 2 and "a port is a number" in done.stderr


def test_the_address_is_printed_for_a_boards_settings():
    async def talk(bot: BotApi):
        print_address(bot.server, out := io.StringIO())
        assert out.getvalue() == f"listening on {bot.server.url}\ntoken {bot.server.token}\n"
        await asyncio.sleep(0)

    with_bot(talk)
