"""The list of features: what it names is there."""

import re

from one_case import in_one_case
from pages import ROOT, in_backticks, read, rows

PAGE = "docs/design/features.md"
FEATURES = rows(read(PAGE))


@in_one_case("row", FEATURES)
def test_where_a_feature_is_there_is_code(row):
    for path in in_backticks(row[1]):
        assert (ROOT / "firmware" / "engram" / path).exists(), path


@in_one_case("row", FEATURES)
def test_a_feature_names_a_test_that_there_is(row):
    named = in_backticks(row[2])
    assert named
    for test in named:
        path, _, name = test.partition("::")
        source = (ROOT / path).read_text(encoding="utf-8")
        assert not name or re.search(rf"^(async )?def {name}\(", source, re.MULTILINE), test
