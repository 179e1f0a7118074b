"""The HTTP API against its own description: whatever it allows, and much that it does not, gets an answer that is described."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import Phase, given, settings
from schemathesis.checks import CHECKS

from extent import HEALTH_CHECKS, extent
from fake_llm import serving
from peers import Companion
from sending import Sent

SHORT, LONG = 1, 200
"""Examples for each operation, in `make test` and in `make soak`."""

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


VALID, INVALID = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
GROUPS = 8
"""Groups of operations, which `make soak` tries side by side."""


def check_operations(companion: Companion, described, examples: int, group: int, groups: int) -> int:
    """Try each operation of a group, and return how many there are."""
    found = [each.ok() for each in described.get_all_operations()][group::groups]
    for operation in found:
        path = operation.path
        takes = operation.method.upper() == "POST" and path != "/v1/bridges/reload"
        check_answers(companion, operation, VALID, examples)
        # Nothing can be wrong with a request that has no parameter.
        if takes or "{" in path or path in OF_SOMEBODY:
            check_answers(companion, operation, INVALID, examples)
    return len(found)


def test_every_answer_is_as_described(companion: Companion, described):
    assert check_operations(companion, described, SHORT, 0, 1) > 70


@pytest.mark.soak
@pytest.mark.parametrize("group", extent(range(GROUPS), [0]))
def test_every_one_of_many_answers_is_as_described(companion: Companion, described, group: int):
    assert check_operations(companion, described, LONG, group, GROUPS) > 0


def check_answers(companion: Companion, operation: Any, mode: schemathesis.GenerationMode, examples: int) -> None:
    """Try an operation with generated requests."""
    method, path = operation.method.upper(), operation.path
    # A message is bytes to the description, and few bytes are one; of a search, some values make no sense together.
    is_picky = method == "POST" or path in (*OF_SOMEBODY, *OF_DAYS)
    excluded = [CHECKS.get_one("positive_data_acceptance")] if is_picky else []

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=examples, database=None, phases=(Phase.generate,), suppress_health_check=HEALTH_CHECKS)
    def try_it(case) -> None:
        if path.startswith("/v1/boards/") and isinstance(case.query.get("wait", 0), int):
            case.query["wait"] = case.query.get("wait", 0) % 2  # nobody answers here
        token = {"Authorization": companion.client.headers["Authorization"]}
        case.call_and_validate(excluded_checks=excluded, headers=token)

    run: Callable[[], None] = try_it
    run()
