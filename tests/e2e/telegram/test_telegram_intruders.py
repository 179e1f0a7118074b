"""What those may try over Telegram who may not: nothing comes of it, and it costs no model call."""

from pathlib import Path

from chatting import Chatting, chatting
from fake_telegram import User
from skips import needs_32_bit

pytestmark = needs_32_bit

ECHO = {"reply": "You said: {last}"}
BOT = "engram_fake_bot"


def stranger_with_code(talk: Chatting) -> tuple[User, str]:
    """Eve, and the code that she was sent in private."""
    eve = talk.telegram.people.add_user("Eve")
    talk.write(eve, "hello")
    return eve, talk.answer(eve).partition("Your code is ")[2][:8]


def is_known(talk: Chatting, user: User) -> bool:
    """Whether the board lists somebody as approved or blocked; strangers with a code are not."""
    return any(
        f"telegram:{user.id}" in line and "waiting: " not in line for line in talk.command("/people").split("\n")
    )


def test_a_stranger_pairs_herself_nowhere(tmp_path: Path):
    with chatting(tmp_path, ECHO, reads_all=True) as talk:
        ann = talk.person("Ann", is_owner=True)
        eve, code = stranger_with_code(talk)
        people = talk.telegram.people
        closed, opened = people.supergroup("Closed", [ann, eve]), people.supergroup("Opened", [ann, eve])
        talk.command(f"/people group telegram:{opened.id} always")
        talk.write(eve, f"/pair {code}")
        talk.write(eve, f"/pair@{BOT} {code}", chat=closed)
        talk.write(eve, f"/pair@{BOT} {code}", chat=opened)
        assert "owner" in talk.answer(opened)
        assert len(talk.answers(eve)) == 1 and talk.shown(closed) == []
        assert not is_known(talk, eve) and not talk.model.requests
