"""Who is answered in private chats, by policy."""

from pathlib import Path

import pytest

import chip
import get_micropython
from pages import fences, read, section
from telegram_transcript import POLICIES, transcript

pytestmark = pytest.mark.skipif(
    not get_micropython.usable(chip.MICROPYTHON, 32), reason="there is no 32-bit MicroPython for this machine"
)


@pytest.mark.parametrize("policy", POLICIES)
def test_who_is_answered_in_private_chats_follows_the_policy(tmp_path: Path, policy: str):
    [shown] = fences(section(read("tests/data/telegram_policies.md"), f"### `{policy}`"), "text")
    assert transcript(tmp_path, policy) == shown.text
