"""The HTTP API against its own description: whatever it allows, and much that it does not, gets an answer that is described."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import Phase, given, settings
from schemathesis.checks import CHECKS

from extent import HEALTH_CHECKS, extent
from fake_llm import serving
from one_case import in_one_case
from peers import Companion
from sending import Sent

SHORT, LONG = 1, 200
"""Examples for each operation, in `make test` and in `make soak`."""

OPERATIONS = (
    ("GET", "/v1/alive"),
    ("GET", "/v1/health"),
    ("GET", "/v1/stats"),
    ("GET", "/metrics"),
    ("GET", "/v1/devices"),
    ("GET", "/v1/devices/{device}"),
    ("GET", "/v1/devices/{device}/events"),
    ("GET", "/v1/devices/{device}/lines"),
    ("GET", "/v1/devices/{device}/archive"),
    ("GET", "/v1/devices/{device}/entries"),
    ("GET", "/v1/devices/{device}/entries/{entry}"),
    ("GET", "/v1/devices/{device}/aside"),
    ("GET", "/v1/devices/{device}/export"),
    ("POST", "/v1/devices/{device}/messages"),
    ("POST", "/v1/search"),
    ("POST", "/v1/search/absence"),
    ("GET", "/v1/gateway"),
    ("POST", "/gateway/v1/chat/completions"),
    ("POST", "/gateway/v1/messages"),
    ("GET", "/gateway/v1/models"),
    ("GET", "/gateway/v1/models/{model}"),
    ("GET", "/v1/folders"),
    ("GET", "/v1/memory"),
    ("GET", "/v1/audit"),
    ("DELETE", "/v1/page/sessions"),
    ("GET", "/v1/bridges"),
    ("POST", "/v1/bridges/reload"),
    ("GET", "/v1/people"),
    ("GET", "/v1/people/waiting"),
    ("GET", "/v1/people/groups"),
    ("POST", "/v1/people/groups"),
    ("POST", "/v1/people/approve"),
    ("POST", "/v1/people/block"),
    ("POST", "/v1/people/remove"),
    ("POST", "/v1/people/rename"),
    ("POST", "/v1/people/link"),
    ("POST", "/v1/people/owner"),
    ("POST", "/v1/people/page"),
    ("GET", "/v1/checks"),
    ("GET", "/v1/boards/{device}/settings"),
    ("POST", "/v1/boards/{device}/settings"),
    ("POST", "/v1/boards/{device}/settings/read"),
    ("GET", "/v1/boards/{device}/status"),
    ("GET", "/v1/boards/{device}/days"),
    ("GET", "/v1/boards"),
    ("GET", "/v1/boards/{device}"),
    ("GET", "/v1/boards/{device}/journal"),
    ("GET", "/v1/boards/{device}/journal/{day}"),
    ("POST", "/v1/boards/{device}/imports"),
    ("GET", "/v1/boards/{device}/imports"),
    ("GET", "/v1/boards/{device}/imports/{id}"),
    ("GET", "/v1/boards/{device}/imports/{id}/lines"),
    ("POST", "/v1/boards/{device}/imports/{id}"),
    ("DELETE", "/v1/boards/{device}/imports/{id}"),
    ("GET", "/v1/boards/{device}/chat"),
    ("POST", "/v1/boards/{device}/chat"),
    ("GET", "/v1/boards/{device}/chat/{id}"),
    ("DELETE", "/v1/boards/{device}/chat/{id}"),
    ("GET", "/v1/boards/{device}/memories"),
    ("GET", "/v1/boards/{device}/memories/{entry}"),
    ("GET", "/v1/boards/{device}/memories/{entry}/similar"),
    ("POST", "/v1/boards/{device}/memories/{entry}"),
    ("GET", "/v1/boards/{device}/changes"),
    ("GET", "/v1/boards/{device}/changes/{id}"),
    ("DELETE", "/v1/boards/{device}/changes/{id}"),
    ("POST", "/v1/boards/{device}/changes/{id}/undo"),
    ("GET", "/v1/boards/{device}/sessions"),
    ("GET", "/v1/boards/{device}/sessions/{session}"),
    ("GET", "/v1/boards/{device}/chat/{id}/memory"),
    ("GET", "/v1/people/{who}/boards"),
    ("GET", "/v1/people/{who}/boards/{device}/memories"),
    ("GET", "/v1/people/{who}/boards/{device}/days"),
    ("GET", "/v1/people/{who}/search"),
    ("GET", "/v1/boards/{device}/senses"),
    ("GET", "/v1/boards/{device}/senses/{sense}/events"),
    ("GET", "/v1/boards/{device}/senses/{sense}/readings"),
    ("GET", "/v1/boards/{device}/senses/{sense}/export"),
    ("GET", "/v1/boards/{device}/trash"),
    ("POST", "/v1/boards/{device}/trash"),
    ("GET", "/v1/boards/{device}/media"),
    ("POST", "/v1/boards/{device}/media"),
    ("GET", "/v1/boards/{device}/media/{id}"),
    ("DELETE", "/v1/boards/{device}/media/{id}"),
    ("GET", "/v1/people/{who}/boards/{device}/senses"),
    ("GET", "/v1/people/{who}/boards/{device}/senses/{sense}/readings"),
)

OF_SOMEBODY = ("/v1/folders", "/v1/memory")
"""What names who asks, in its query: not every text can be a principal's name."""

OF_DAYS = ("/v1/boards/{device}/journal", "/v1/boards/{device}/journal/{day}")
"""What names a day or a month: not all that look like one are in the calendar."""


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion with a model behind its gateway."""
    home = tmp_path_factory.mktemp("companion")
    with serving() as service, Companion(home, ENGRAM_GATEWAY_URL=service.url + "/v1") as running:
        yield running


@pytest.fixture(scope="module")
def described(companion: Companion):
    """The API's description, of a companion that knows a board."""

    board = Sent(companion.posted, "kitchen")
    board.say("the bike is green")
    board.keep("Ann drinks tea")
    board.sync()
    return schemathesis.openapi.from_url(f"{companion.url}/openapi.json")


def test_all_operations_are_tried(described):
    assert {(one.ok().method.upper(), one.ok().path) for one in described.get_all_operations()} == set(OPERATIONS)


VALID, INVALID = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
CASES = [
    (method, path, mode)
    for method, path in OPERATIONS
    for mode in (VALID, INVALID)
    if mode is VALID or (method == "POST" and path != "/v1/bridges/reload") or "{" in path or path in OF_SOMEBODY
]
"""Nothing can be wrong with a request that has no parameter."""


@in_one_case("method, path, mode", CASES)
def test_every_answer_is_as_described(
    companion: Companion, described, method: str, path: str, mode: schemathesis.GenerationMode
):
    check_answers(companion, described[path][method], mode, SHORT)


@pytest.mark.soak
@pytest.mark.parametrize("method, path, mode", extent(CASES, CASES[:1]))
def test_every_one_of_many_answers_is_as_described(
    companion: Companion, described, method: str, path: str, mode: schemathesis.GenerationMode
):
    check_answers(companion, described[path][method], mode, LONG)


def check_answers(companion: Companion, operation: Any, mode: schemathesis.GenerationMode, examples: int) -> None:
    """Try an operation with generated requests."""
    method, path = operation.method.upper(), operation.path
    # A message is bytes to the description, and few bytes are one; of a search, some values make no sense together.
    is_picky = method == "POST" or path in (*OF_SOMEBODY, *OF_DAYS)
    excluded = [CHECKS.get_one("positive_data_acceptance")] if is_picky else []

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=HEALTH_CHECKS,
    )
    def try_it(case) -> None:
        if path.startswith("/v1/boards/") and isinstance(case.query.get("wait", 0), int):
            case.query["wait"] = case.query.get("wait", 0) % 2  # nobody answers here
        token = {"Authorization": companion.client.headers["Authorization"]}
        case.call_and_validate(excluded_checks=excluded, headers=token)

    run: Callable[[], None] = try_it
    run()
