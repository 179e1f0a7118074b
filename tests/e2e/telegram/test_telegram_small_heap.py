"""Telegram where the chip has no PSRAM: the figures of docs/design/heap.md, on modules that are frozen into MicroPython."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import debian
import heap
import heap_builds
import heap_flash
from engram_host.boards import profile
from engram_host.fake_llm import serving as serving_model
from engram_host.fake_telegram import FakeTelegram, FloodLimits, serving
from heap_bench import CHIP_KILOBYTES, RULES

ENOUGH_KILOBYTES = 164
TOO_LITTLE_KILOBYTES = 161
"""In this heap, people are answered, but learning runs out of memory."""

REFUSED = "not enough memory for Telegram"
MESSAGES = ("hello, how are you?", "please remember my bicycle", "search for it")
ANSWER = "Here is an answer."
LEARNS = "it waits 30 s"
"""What the log has once learning has asked the scripted model, which knows no facts."""

pytestmark = pytest.mark.soak


def conversation(folder: Path, kilobytes: int) -> tuple[list[str], str]:
    """What a person is shown who writes the messages, and what the board prints."""
    try:
        build = heap_builds.frozen()
    except debian.Unavailable as problem:
        pytest.skip(str(problem))
    board = replace(profile.load_profile(heap.BOARD), settings=profile.load_profile(heap.BOARD).settings | heap.ROOM)
    flash = folder / "flash.bin"
    flash.write_bytes(heap_flash.filled(board, heap.RECORDS)[0])
    settings = board.settings | {"telegram.policy": "open *", "log.level": "info"}
    fake = FakeTelegram(limits=FloodLimits(enabled=False))
    with serving_model(RULES) as model, serving(fake) as telegram:
        environment = {
            "MICROPYPATH": build.path,
            "ENGRAM_FLASH": str(shutil.copy(flash, folder / "copy.bin")),
            "ENGRAM_LLM_URL": model.url + "/v1",
            "ENGRAM_LLM_MODEL": "m",
            "ENGRAM_SETTINGS": json.dumps(settings),
            "ENGRAM_TELEGRAM_URL": telegram.url,
            "ENGRAM_TELEGRAM_TOKEN": telegram.token,
        }
        with subprocess.Popen(
            build.command(kilobytes, "heap_conversation"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **environment},
        ) as process:
            assert process.stdout
            printed = ""
            while "[info telegram: connected" not in printed and "[error telegram" not in printed:
                printed += process.stdout.readline()
            ann = telegram.people.add_user("Ann")
            chat = telegram.people.private_chat(ann)
            for number, text in enumerate(MESSAGES, 1) if "[error" not in printed else ():
                telegram.people.write(ann, text)
                telegram.wait_until(
                    lambda server, count=number: (
                        sum(ANSWER in message.text for message in server.people.from_bot(chat)) >= count
                    ),
                    60,
                )
            while "connected" in printed and LEARNS not in printed:
                printed += process.stdout.readline()
            printed += process.communicate("", timeout=60)[0]
        return [message.text for message in telegram.people.from_bot(chat)], printed


def test_a_conversation_with_tools_and_learning_fits(tmp_path: Path):
    shown, printed = conversation(tmp_path, ENOUGH_KILOBYTES)
    assert sum(ANSWER in text for text in shown) == len(MESSAGES) and "remembered m" in "".join(shown)
    assert "MemoryError" not in printed, printed


def test_a_plain_esp32_says_that_its_memory_is_not_enough(tmp_path: Path):
    shown, printed = conversation(tmp_path, CHIP_KILOBYTES)
    assert not shown and REFUSED in printed and "let a companion bring it" in printed


def test_where_learning_has_no_room_telegram_is_refused(tmp_path: Path):
    shown, printed = conversation(tmp_path, TOO_LITTLE_KILOBYTES)
    assert not shown and REFUSED in printed
