"""What those may try over Telegram who may not: nothing comes of it, and it costs no model call."""

from pathlib import Path

import pytest

import chip
import get_micropython
from chatting import Chatting, chatting
from fake_telegram import User

pytestmark = pytest.mark.skipif(
    not get_micropython.usable(chip.MICROPYTHON, 32), reason="there is no 32-bit MicroPython for this machine"
)

ECHO = {"reply": "You said: {last}"}
BOT = "engram_fake_bot"
OWNER_ONLY = (
    "/people",
    "/pair ABCDEFGH",
    "/compact",
    "/companion",
    "/mode lightweight",
    "/import x.jsonl",
)


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


def test_owner_only_commands_are_refused_for_others_in_private_and_in_a_group(tmp_path: Path):
    with chatting(tmp_path, ECHO, people__rate=100) as talk:
        ann, bob = talk.person("Ann", is_owner=True), talk.person("Bob")
        group = talk.telegram.people.supergroup("Garden", [ann, bob])
        talk.command(f"/people group telegram:{group.id} mention")
        for count, command in enumerate(OWNER_ONLY, 1):
            name, _, rest = command.partition(" ")
            talk.write(bob, command)
            talk.write(bob, f"{name}@{BOT} {rest}", chat=group)
            assert "owner" in talk.answers(bob, count)[-1], command
            assert "owner" in talk.answers(group, count)[-1], command
        # Who owns the board is its owner in private only: what a group is shown, all in it see.
        talk.write(ann, f"/people@{BOT}", chat=group)
        assert "owner" in talk.answers(group, len(OWNER_ONLY) + 1)[-1]


def test_a_forwarded_command_is_not_carried_out(tmp_path: Path):
    with chatting(tmp_path, ECHO) as talk:
        ann, bob = talk.person("Ann", is_owner=True), talk.person("Bob")
        eve = talk.telegram.people.add_user("Eve")
        group = talk.telegram.people.supergroup("Garden", [ann, bob])
        bait = talk.write(bob, f"/pair telegram:{eve.id}", chat=group)
        talk.telegram.people.forward(ann, bait)
        assert talk.answer(ann).startswith("A forwarded command is not carried out")
        assert not is_known(talk, eve)


def test_bots_channels_and_anonymous_administrators_are_not_answered(tmp_path: Path):
    with chatting(tmp_path, ECHO, reads_all=True, people__policy="open *") as talk:
        ann = talk.person("Ann", is_owner=True)
        people = talk.telegram.people
        bot = people.add_user("Spam", is_bot=True)
        group = people.supergroup("Garden", [ann])
        talk.command(f"/people group telegram:{group.id} always")
        talk.write(bot, "hello")
        people.write_as_chat(group, "hello")
        people.write_as_chat(group, f"/people@{BOT}")
        talk.idles()
        assert talk.shown(bot) == [] and talk.shown(group) == [] and not talk.model.requests


def test_an_edit_to_a_command_is_not_carried_out(tmp_path: Path):
    with chatting(tmp_path, ECHO) as talk:
        ann = talk.person("Ann", is_owner=True)
        eve = talk.telegram.people.add_user("Eve")
        message = talk.write(ann, "hello")
        talk.sees(ann, "You said: hello")
        talk.telegram.people.edit(message, f"/pair telegram:{eve.id}")
        talk.write(ann, "more")
        refused = "An edited command is not carried out: send it as a new message."
        talk.sees(ann, "You said: hello", refused, "You said: more")
        assert not is_known(talk, eve)
