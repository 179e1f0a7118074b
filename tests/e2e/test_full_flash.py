"""A small littlefs that is full: memories are refused with a clear error, all else goes on, and room can be made."""

from collections.abc import Callable, Iterator

import pytest

from driving import Home, Talk, said, say, talking
from fake_llm import Serving

Scripted = Callable[..., Serving]

FLASH_BYTES = 160 * 1024
SETTINGS = '{"records.bytes": 131072, "journal.bytes": 131072}'  # small segments
FULL = "the flash is full"
KEPT = "Remembered as"


@pytest.fixture
def flash(home: Home) -> Home:
    """A board on a small littlefs in a file."""
    home.folder.mkdir()
    return home.knowing(
        ENGRAM_FLASH=str(home.folder / "flash.bin"), ENGRAM_FLASH_SIZE=str(FLASH_BYTES), ENGRAM_SETTINGS=SETTINGS
    )


@pytest.fixture
def full(flash: Home) -> Iterator[tuple[Talk, int]]:
    """A board whose flash is full, and how many memories it has."""
    with talking(flash) as talk:
        yield talk, fill(talk)


def memory(number: int) -> str:
    return f"box{number} holds " + f"{number}x" * 400


MORE = ["remember that " + memory(number) for number in range(900, 910)]


def fill(talk: Talk) -> int:
    """Store memories until one is refused; how many were kept."""
    for number in range(1, 200):
        talk.say("remember that " + memory(number))
        if talk.heard(KEPT, FULL).endswith(FULL):
            assert "forget something" in talk.heard("\n") and number > 10
            return number - 1
    raise AssertionError("the flash was never full")


def answer(talk: Talk, line: str) -> str:
    """What is printed for a line."""
    talk.say(line)
    talk.say("/nonsense")
    printed = talk.heard("/nonsense: ").removesuffix("/nonsense: ")
    talk.heard("\n")
    return printed


def test_what_was_kept_is_found_and_shown(full: tuple[Talk, int]):
    talk, count = full
    assert "box2 holds" in answer(talk, "/memory show m2") and "box3 holds" in answer(talk, "/recall box3")
    assert "box5 holds" in answer(talk, "what do you know about box5?")
    assert f"memories  {count}, " in answer(talk, "/stats")


def test_each_further_memory_is_kept_or_refused_and_none_is_half_there(full: tuple[Talk, int]):
    talk, count = full
    for number in range(500, 510):
        told = answer(talk, "remember that " + memory(number))
        assert (KEPT in told) != (FULL in told)
        found = answer(talk, f"/recall box{number}")
        assert (f"box{number} holds" in found) == (KEPT in told)
        count += KEPT in told
    assert f"memories  {count}, " in answer(talk, "/stats")


def test_a_board_that_was_killed_starts_and_has_all(flash: Home, full: tuple[Talk, int]):
    talk, count = full
    talk.kill()
    ended = say(flash, "/stats", f"/memory show m{count}", "/memory show m1", *MORE)
    assert ended.status == 0
    assert f"memories  {count}, " in ended.printed
    assert f"box{count} holds" in ended.printed and "box1 holds" in ended.printed
    assert FULL in ended.printed


LONG_REPLY = {"reply": ["Answer {request} " + "z" * 1400]}
LONG_MESSAGES = [f"message {number} " + "y" * 1400 for number in range(28)]


def test_of_a_conversation_that_fills_the_flash_the_oldest_turns_leave(flash: Home, scripted: Scripted):
    server = scripted(LONG_REPLY)
    say(flash, "remember that my bike is green")
    ended = say(flash.asking(server.url), *LONG_MESSAGES, *LONG_MESSAGES, "/memory show m1")
    assert ended.printed.count("Answer ") == 56
    assert "the oldest segment of turns left to make room" in ended.printed
    assert "my bike is green" in ended.printed
    assert LONG_MESSAGES[-2] in said(server.requests[-1])


def test_kills_while_it_fills_lose_nothing_that_was_shown(flash: Home):
    shown = 0
    for run in range(6):
        with talking(flash) as talk:
            for number in range(20):
                talk.say("remember that " + memory(100 * run + number))
            for _ in range(5 * run % 13):
                if talk.heard(KEPT, FULL).endswith(FULL):
                    break
            talk.kill()
            talk.heard_to_the_end()
            shown += talk.seen.decode().count(KEPT)
    listed = say(flash, "/stats")
    assert listed.status == 0
    kept = int(listed.printed.split("memories  ")[1].split(",")[0])
    assert kept >= shown > 10
