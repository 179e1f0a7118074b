"""The page /docs: all that the API offers stands in it, and nothing of it comes from elsewhere."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from page_client import PageClient, Parsed
from peers import Companion


@pytest.fixture(scope="module")
def described(companion: Companion) -> dict[str, Any]:
    return companion.client.get("/openapi.json").json()


@pytest.fixture
def page(companion: Companion) -> Iterator[Parsed]:
    with closing(PageClient(companion.url)) as client:
        yield client.open("/docs")


def test_each_route_is_there_with_its_parameters_and_answers(page: Parsed, described: dict[str, Any]):
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            assert f"{method.upper()} {path}" in page.words
            assert all(each["name"] in page.words for each in route.get("parameters", []))
            assert all(each["description"] in page.words for each in route["responses"].values())


def test_each_form_is_there_with_its_fields(page: Parsed, described: dict[str, Any]):
    ids = {each.get("id") for each in page.all("section")}
    for name, schema in described["components"]["schemas"].items():
        assert f"form-{name}" in ids
        assert all(field in page.words for field in schema.get("properties", {}))
    links = {each["href"][1:] for each in page.all("a") if each["href"].startswith("#form-")}
    assert links <= ids
