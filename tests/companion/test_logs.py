"""Logs: one JSON object a line whatever is logged, and nothing that looks like a secret in either form."""

import io
import json
import logging

from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.companion.auth.tokens import new_token
from engram_host.companion.logs import FORMATS, JsonFormatter, set_up, without_secrets
from one_case import in_one_case

_NAMES = st.text("abcdefghij_", min_size=1, max_size=8)
_VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary())


@settings(max_examples=50)
@given(st.text(), st.dictionaries(_NAMES.map("x_".__add__), _VALUES, max_size=4))
def test_anything_becomes_one_line_of_json(message: str, fields: dict):
    record = logging.makeLogRecord(
        {"name": "engram.test", "msg": message, "levelno": 20, "levelname": "INFO", **fields}
    )
    line = JsonFormatter().format(record)
    assert len(line.splitlines()) == 1
    told = json.loads(line)
    assert (told["logger"], told["level"]) == ("engram.test", "info") and set(told["fields"]) == set(fields)


def test_an_error_comes_with_its_traceback_in_the_same_line():
    out = _logged("json", lambda log: log.exception("failed"))
    assert "ZeroDivisionError" in json.loads(out)["error"]


SECRETS = {
    "a token": new_token(),
    "a password in a URL": "postgresql://me:hush-hush@host/db",
    "a header": "Authorization: Bearer abcdefghijkl",
    "a model's key": "sk-abcdefghijklmnopqrstuvwx",
}


@in_one_case("form", FORMATS)
@in_one_case("secret", SECRETS.values())
def test_a_secret_is_in_no_log(form: str, secret: str):
    hidden = secret.removeprefix("postgresql://me:").removeprefix("Authorization: Bearer ").partition("@")[0]
    out = _logged(form, lambda log: log.error("it said %s", secret, extra={"told": secret}))
    assert hidden not in out and "(hidden)" in out
    assert hidden not in _logged(form, lambda log: log.exception(secret))


STEERING = {
    "a forged line": "/v1/x\n2026-01-31 12:00:00 INFO engram.security: all is well",
    "a carriage return": "/v1/x\rall is well",
    "a terminal's escape": "\x1b[2J\x1b]0;title\x07",
    "the same in eight bits": "\x9b2J",
    "a line of Unicode": "/v1/x\u2028all is well\x85and so on",
    "writing turned round": "\u202ethgir si lla",
}


@in_one_case("form", FORMATS)
@in_one_case("told", STEERING.values())
def test_a_text_from_outside_forges_no_line_and_steers_no_terminal(form: str, told: str):
    out = _logged(form, lambda log: log.warning("%s was refused", told, extra={"told": told}))
    assert len(out.splitlines()) == 1 and out.rstrip("\n").isprintable()


def test_the_lines_of_a_traceback_stay_and_what_its_error_says_steers_nothing():
    def fail(log: logging.Logger) -> None:
        try:
            raise ValueError("red \x1b[31m text")
        except ValueError:
            log.exception("failed")

    lines = _logged("text", fail).splitlines()
    assert lines[1].startswith("Traceback") and len(lines) > 3
    assert lines[-1] == "ValueError: red \\u001b[31m text"


def test_a_secret_behind_an_escape_is_hidden_all_the_same():
    token = new_token()
    assert token not in _logged("text", lambda log: log.error("\x1b[m\n%s\n", token))


@given(st.text("abc def:./", max_size=40))
def test_ordinary_text_stays(text: str):
    assert without_secrets(text) == text or "://" in text


def test_lines_that_repeat_are_written_once_whoever_logs_them():
    asyncio_log = logging.getLogger("asyncio")
    out = _logged("text", lambda _: [asyncio_log.error("out of system resource") for _ in range(500)])
    assert len(out.splitlines()) == 1


def _logged(form: str, work) -> str:
    out = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    try:
        set_up(form, "info", out)
        try:
            raise ZeroDivisionError
        except ZeroDivisionError:
            work(logging.getLogger("engram.test"))
    finally:
        root.handlers = handlers
        root.setLevel(level)
    return out.getvalue()
