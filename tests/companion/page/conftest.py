"""A browser for the tests of the page."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from page_client import PageClient
from peers import Companion


@pytest.fixture
def browser(companion: Companion) -> Iterator[PageClient]:
    """A browser that has opened the page."""
    with closing(PageClient(companion.url)) as client:
        client.open("/")
        yield client
