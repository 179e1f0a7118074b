"""Other wordings of a query: what of a model's answer is taken, and what is kept."""

import asyncio
from typing import Any

import pytest

from engram_host.companion.errors import CompanionError, ExpansionError
from engram_host.companion.gateway.dialects import ANTHROPIC, OPENAI
from engram_host.companion.search.cooldown import Cooldown
from engram_host.companion.search.expansion import (
    MOST_ANSWER,
    MOST_ASKED,
    MOST_CHARACTERS,
    MOST_KEPT,
    QueryExpander,
    parse_wordings,
)
from one_case import in_one_case

QUERY = "what does Ann drink"


@in_one_case(
    "answer",
    [
        '["green tea", "beverage"]',
        '```json\n["green tea", "beverage"]\n```',
        'Here you are: ["green tea", "beverage"]. Anything else?',
        '{"queries": ["green tea", "beverage"]}',
        "- green tea\n- beverage",
        "1. green tea\n2) beverage\n",
        "Sure:\n* \"green tea\"\n* 'beverage'",
        '["green tea", "what does ann DRINK", "", "  ", "green tea", 7, null, ["x"], "beverage"]',
        '["green\\n tea", "beverage", "' + "x" * (MOST_CHARACTERS + 1) + '"]',
    ],
)
def test_a_list_is_read_in_each_form(answer):
    assert parse_wordings(answer, QUERY) == ("green tea", "beverage")


def test_no_more_than_three_are_taken():
    assert len(parse_wordings('["a", "b", "c", "d"]', QUERY)) == 3


def test_an_empty_list_is_no_failure():
    assert parse_wordings("[]", QUERY) == ()


@in_one_case(
    "answer",
    ["", "I cannot help with that.", "Ann drinks green tea.", '["green', "[1, 2", "[" * 100_000, "x" * 2 * MOST_ANSWER],
)
def test_other_text_is_no_wording(answer):
    with pytest.raises(ExpansionError):
        parse_wordings(answer, QUERY)


def test_control_characters_of_an_answer_go():
    assert "\x1b" not in parse_wordings('["green\\u001b[31m tea"]', QUERY)[0]


@in_one_case("url, name", [("https://api.openai.com/v1", "max_completion_tokens"), ("", "max_tokens")])
def test_the_answers_length_is_bounded_in_the_services_own_words(url, name):
    assert OPENAI.chat_body("m", "be short", "hello", 9, url)[name] == 9


@in_one_case(
    "api, answer",
    [
        (OPENAI, {"choices": []}),
        (OPENAI, {"choices": ["x"]}),
        (OPENAI, {"choices": [{"message": {"content": None}}]}),
        (ANTHROPIC, {"content": []}),
        (ANTHROPIC, {"content": ["x", {"type": "text", "text": 7}, {"type": "thinking", "text": "hm"}]}),
    ],
)
def test_an_answer_without_text_is_an_empty_one(api, answer):
    assert api.answer_text(answer) == ""


# --- asking


class Model:
    """Answers with `answer`, an error of the companion's, or never."""

    def __init__(self, answer: Any = '["tea"]'):
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, system: str, message: str) -> str:
        self.asked.append(message)
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is None:
            await asyncio.Event().wait()
        return str(self.answer)


def expander(model: Model, cooldown: Cooldown | None = None, seconds: float = 5) -> QueryExpander:
    return QueryExpander(model, seconds, cooldown or Cooldown(30))


def wordings(one: QueryExpander, query: str = QUERY) -> tuple[str, ...]:
    return asyncio.run(one.wordings_of(query))


def test_a_query_is_asked_once():
    model = Model()
    one = expander(model)
    assert [wordings(one), wordings(one, f" {QUERY} ")] == [("tea",), ("tea",)]
    assert model.asked == [QUERY]


def test_the_queries_kept_are_bounded():
    model = Model()
    one = expander(model)
    for number in range(MOST_KEPT + 1):
        wordings(one, f"query {number}")
    wordings(one, "query 1")
    assert len(model.asked) == MOST_KEPT + 1
    wordings(one, "query 0")
    assert len(model.asked) == MOST_KEPT + 2


def test_a_long_query_is_cut_and_made_one_line():
    model = Model()
    wordings(expander(model), "tea\n" + "x" * 2000)
    assert model.asked[0].startswith("tea x") and len(model.asked[0]) == MOST_ASKED


@in_one_case(
    "answer, why",
    [(None, "did not answer within 0.05 s"), (CompanionError("the limit is reached."), "limit"), ("no", "list")],
)
def test_a_failure_is_an_error_that_says_why(answer, why):
    with pytest.raises(ExpansionError, match=why):
        wordings(expander(Model(answer), seconds=0.05))


def test_a_model_that_failed_is_left_alone_for_the_cool_down():
    now = [0.0]
    model = Model("no")
    one = expander(model, Cooldown(30, lambda: now[0]))
    for moment in (1, 29, 40):
        now[0] = moment
        with pytest.raises(ExpansionError):
            wordings(one)
    assert len(model.asked) == 2


def test_kept_wordings_are_given_while_the_model_fails():
    model = Model()
    one = expander(model)
    wordings(one)
    model.answer = "no"
    with pytest.raises(ExpansionError):
        wordings(one, "another query")
    assert wordings(one) == ("tea",) and one.problem.startswith("queries are not expanded: ")
