"""Standard input is a pipe or a file: a line is a message, and its end is the end."""

import subprocess

from driving import AS_TYPED, COMMAND, ROOT, SECONDS, Home, say, talking

STORE = "remember that my bike is green"


def test_a_line_is_a_message(home: Home):
    ended = say(home, "hello", "and hello again", command=AS_TYPED)
    assert ended.printed.count("I am offline") == 2
    assert [turn["text"] for turn in home.turns()] == ["hello", "and hello again"]


def test_no_input_at_all_is_an_end_too(home: Home):
    ended = say(home)
    assert (ended.status, ended.problems) == (0, "")
    assert ended.printed.startswith("Engram ")


def test_the_input_may_be_a_file(home: Home):
    home.write("messages", f"hello\n{STORE}\n")
    with (home.folder / "messages").open("rb") as messages:
        done = subprocess.run(COMMAND, stdin=messages, capture_output=True, env=home.variables(), timeout=SECONDS)
    assert done.returncode == 0 and b"Remembered as m1" in done.stdout


def test_a_pipe_gets_no_prompt_and_no_echo(home: Home):
    printed = say(home, "hello").printed
    assert "hello" not in printed and ">" not in printed and "\r" not in printed


def test_a_reader_that_leaves_ends_the_board_without_ado(home: Home):
    with talking(home) as talk:
        talk.say("hello")
        talk.heard("/help show more.\n")
        talk.stop_reading()
        talk.say(STORE)
        assert talk.process.wait(SECONDS) == 1
    assert home.memories() == ["my bike is green"]


def test_without_a_model_one_line_says_so_and_what_to_do(home: Home):
    lines = [line for line in say(home).printed.splitlines() if "No model is set up" in line]
    assert len(lines) == 1
    page = (ROOT / lines[0].partition("see ")[2].partition(")")[0]).read_text(encoding="utf-8")
    assert "ENGRAM_LLM_URL" in page and "ENGRAM_LLM_MODEL" in page
