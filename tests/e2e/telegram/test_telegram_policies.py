"""Who is answered in private chats, by policy, is what the page shows."""

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
def test_the_page_shows_who_is_answered_in_each_policy(tmp_path: Path, policy: str):
    [shown] = fences(section(read("docs/design/telegram.md"), f"### `{policy}`"), "text")
    assert transcript(tmp_path, policy) == shown.text
