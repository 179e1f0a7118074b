"""What the companion's tests share: one companion that runs, and boards that speak to it over HTTP."""

import itertools
from collections.abc import Callable, Iterator

import pytest

from peers import Companion
from sending import Sent

_NAMES = (f"board-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion with SQLite and the broker inside."""
    with Companion(tmp_path_factory.mktemp("companion")) as running:
        yield running


@pytest.fixture
def board(companion: Companion) -> Callable[..., Sent]:
    """Boards of that companion, each with a name of its own unless one is given."""

    def post(device: str, message: bytes) -> bytes:
        headers = {"Content-Type": "application/octet-stream"}
        answer = companion.client.post(f"/v1/devices/{device}/messages", content=message, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.content

    def make(device: str = "", **more: object) -> Sent:
        return Sent(post, device or next(_NAMES), **more)

    return make
