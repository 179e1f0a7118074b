"""A board with a real model on llama.cpp's server: the wire, the time limits, and a window that is too small."""

import pytest

from driving import CTRL_C, TERMINAL, Home, say, talking
from llama_server import LlamaServer
from waiting import wait_until

pytestmark = pytest.mark.real_model

LONG = " ".join(f"On day {day} the fern in the hall had {day * 7} leaves." for day in range(120))
RUSSIAN = " ".join(f"На {day} день у папоротника в прихожей было {day * 7} листьев." for day in range(60))


def test_a_model_answers(home: Home, server: LlamaServer):
    server.start()
    printed = say(home.asking(server.url), "hello").printed
    asked, answered = home.turns()
    assert asked["text"] == "hello" and answered["role"] == "assistant"
    assert answered["text"] in printed
    assert server.prompts()[-1].rpartition("user\n")[2].count("hello") == 1


@pytest.mark.soak
def test_a_long_message_is_read_to_its_end(home: Home, server: LlamaServer):
    server.start()
    printed = say(home.asking(server.url), LONG).printed
    assert [turn["role"] for turn in home.turns()] == ["user", "assistant"], printed
    assert f"{119 * 7} leaves" in server.prompts()[0]


@pytest.mark.soak
def test_a_long_prompt_is_not_read_again(home: Home, server: LlamaServer, measured):
    server.start()
    say(home.asking(server.url), "My bike is green.", "I like tea.", "The bins are emptied on Thursdays.")
    first, *_, last = server.timings()
    assert last.read < first.read
    measured(
        read_a_second=round(first.read / first.read_seconds),
        written_a_second=round(last.written / last.written_seconds, 1),
        first_turn={"tokens": first.read, "seconds": first.read_seconds},
        later_turn={"tokens": last.read, "seconds": last.read_seconds},
    )


@pytest.mark.soak
@pytest.mark.parametrize("is_writing", [False, True], ids=["reading", "writing"])
def test_ctrl_c_frees_the_slot(home: Home, server: LlamaServer, is_writing: bool):
    server.start()
    with talking(home.asking(server.url).having(llm__reply_tokens=2000), on=TERMINAL) as talk:
        talk.say("Count from one to a thousand, in words. " + ("" if is_writing else LONG))
        wait_until(server.printed, lambda: _written(server) > (5 if is_writing else -1), within=home.within)
        talk.type(CTRL_C)
        assert talk.status() == 0
    # The server looks at the connection when it has something to send: it reads a prompt to its end.
    wait_until(server.printed, lambda: not server.slot()["is_processing"], within=home.within)
    assert "cancel task" in server.all_printed()


def _written(server: LlamaServer) -> int:
    """Return how many tokens of an answer are written; -1 if none is asked for."""
    slot = server.slot()
    return slot["next_token"][0]["n_decoded"] if slot["is_processing"] else -1


@pytest.mark.soak
def test_a_server_that_loads_its_model_is_waited_for(home: Home, server: LlamaServer):
    with talking(home.asking(server.url)) as talk:
        talk.heard("lists the commands")
        server.begin()
        wait_until(server.printed, lambda: server.health() == 503)
        talk.say("hello")
        talk.end()
        assert "503" in talk.seen.decode()
    assert [turn["role"] for turn in home.turns()] == ["user", "assistant"], talk.seen.decode()


@pytest.mark.soak
def test_a_window_that_the_messages_overflow(home: Home, server: LlamaServer):
    server.context = 2048
    server.start()
    printed = say(home.asking(server.url), "hello", RUSSIAN, RUSSIAN, "thank you").printed
    assert [turn["role"] for turn in home.turns()] == 4 * ["user", "assistant"], printed
    assert not [line for line in printed.splitlines() if line.startswith("! ")]
