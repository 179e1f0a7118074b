"""The settings of embedding: the page's table is the code's."""

import json
from dataclasses import fields

from engram_host.companion.settings import PROVIDERS, EmbeddingSettings
from pages import plain, read, rows, section

PAGE = "docs/reference/companion-settings.md"
GUIDE = "docs/guides/embedding.md"


def bounds(default, rules) -> str:
    if isinstance(default, bool):
        return "`true`, `false`"
    if rules["one_of"]:
        return ", ".join(f"`{value}`" for value in rules["one_of"])
    return f"0 to {rules['high']} characters" if isinstance(default, str) else f"{rules['low']} to {rules['high']}"


def test_the_table_of_settings_is_the_codes():
    documented = [tuple(row[:4]) for row in rows(section(read(PAGE), "## Embedding"))]
    expected = [
        (
            f"`{one.name}`",
            f"`{json.dumps(one.default)}`",
            bounds(one.default, one.metadata),
            f"`{one.metadata['environment']}`",
        )
        for one in fields(EmbeddingSettings)
    ]
    assert documented == expected


def test_each_setting_says_what_it_is_for():
    for row in rows(section(read(PAGE), "## Embedding")):
        assert len(row) == 5 and len(row[4]) > 10, row


def test_the_table_of_providers_is_the_codes():
    assert [plain(row[0]) for row in rows(section(read(GUIDE), "## Choose an embedder"))] == list(PROVIDERS)
