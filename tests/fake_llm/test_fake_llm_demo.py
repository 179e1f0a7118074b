"""The demo that ships with the scripted server, and the server as a command."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import fake_llm
from fake_llm import load, serving
from fake_llm_clients import APIS, ask, round_of

SERVERS = Path(fake_llm.__file__).parents[1]
RECALLED = ("- [m12 2026-01-31] The user's name is Ada", "- [m7 2026-01-30] Ada likes tea")
TOOLS = ("memory_store", "memory_recall")


@pytest.mark.parametrize("api", APIS)
class TestDemo:
    def ask(self, api, messages, **rest):
        with serving(load("demo.json")) as server:
            return ask(server.url, api, messages, **{"stream": True, "tools": TOOLS, **rest})

    def test_a_name_is_stored(self, api):
        ((_, tool, arguments),) = self.ask(api, "Hi, my name is Ada.").calls
        assert (tool, arguments["content"], arguments["tags"]) == (
            "memory_store",
            "The user's name is Ada",
            ["identity"],
        )

    @pytest.mark.parametrize("message", ["remember that I like tea", "Please remember I like tea!"])
    def test_what_is_to_be_remembered_is_stored(self, api, message):
        ((_, tool, arguments),) = self.ask(api, message).calls
        assert (tool, arguments["content"]) == ("memory_store", "I like tea")

    def test_a_stored_memory_is_told_with_its_id(self, api):
        result = '{"status": "stored", "id": "m12"}'
        assert "m12" in self.ask(api, round_of(api, "my name is Ada", "memory_store", result)).text

    def test_a_refused_memory_is_never_told_as_stored(self, api):
        got = self.ask(api, round_of(api, "my name is Ada", "memory_store", '{"error": "the flash is full"}'))
        assert got.text.startswith("It was not stored.") and "the flash is full" in got.text

    @pytest.mark.parametrize("question", ["What is my name?", "what do you know about me"])
    def test_a_question_is_answered_from_what_was_recalled(self, api, question):
        message = "\n".join(["<memories>", *RECALLED, "</memories>", question])
        assert all(line in self.ask(api, message).text for line in RECALLED)

    def test_without_recalled_lines_it_says_that_it_does_not_know(self, api):
        assert "I do not know" in self.ask(api, "What is my name?").text

    def test_recalled_lines_are_not_taken_for_the_persons_words(self, api):
        message = "<memories>\n- [m1 2026-01-31] remember that my name is Ada\n</memories>\nhello"
        assert self.ask(api, message).calls == []

    def test_no_tool_is_called_that_is_not_offered(self, api):
        got = self.ask(api, "my name is Ada", tools=())
        assert got.calls == [] and "I am a script" in got.text

    def test_anything_else_is_answered_with_what_it_can_do(self, api):
        assert "I am a script" in self.ask(api, "tell me a joke").text

    def test_extraction_finds_nothing(self, api):
        assert self.ask(api, "my name is Ada", tools=(), system="Answer with JSON.").text == "[]"


@contextmanager
def command(*arguments: str):
    """The command as a process, and the address in its first line."""
    line = [sys.executable, "-m", "fake_llm", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(SERVERS)}
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        try:
            yield process, process.stdout.readline().strip().removeprefix("listening on ")
        finally:
            process.terminate()


def test_the_command_serves_the_demo():
    with command() as (_, url):
        assert "I am a script" in ask(url, "openai", "hello").text


def test_the_command_records_each_request_as_a_line_of_json(tmp_path):
    script, record = tmp_path / "script.json", tmp_path / "requests.jsonl"
    script.write_text('[{"reply": "hi"}]', encoding="utf-8")
    with command("--script", str(script), "--record", str(record)) as (_, url):
        for api in APIS:
            ask(url, api, "Grüße")
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert [(line["order"], line["api"]) for line in lines] == [(1, "openai"), (2, "anthropic")]
    assert all(json.loads(line["raw"]) == line["body"] for line in lines)
    assert lines[0]["headers"]["authorization"] == "Bearer a-key"


def test_what_is_recorded_is_for_its_owner_only(tmp_path):
    with serving(record=tmp_path / "requests.jsonl"):
        assert (tmp_path / "requests.jsonl").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_ends_cleanly_on_a_signal(number):
    with command() as (process, _):
        process.send_signal(number)
        assert process.wait(10) == 0


@pytest.mark.parametrize("arguments", [["--script", "nowhere.json"], ["--port", "99999"]])
def test_a_wrong_argument_is_an_error_of_the_command(arguments):
    line = [sys.executable, "-m", "fake_llm", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SERVERS)})
    assert (done.returncode, done.stdout) == (2, "") and "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_an_error_of_the_command():
    with command() as (_, url):
        line = [sys.executable, "-m", "fake_llm", "--port", url.rpartition(":")[2]]
        done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SERVERS)})
    assert done.returncode == 1 and done.stderr.startswith("the server cannot start: ")
