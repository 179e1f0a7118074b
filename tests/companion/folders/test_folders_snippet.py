"""What is shown of a passage: the part that fits the query."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.companion.folders.chunks import found_line, snippet

LINES = st.lists(
    st.lists(st.sampled_from(["tea", "green", "é", "日本", "x" * 200]), max_size=9).map(" ".join), min_size=1
)


@settings(max_examples=100)
@given(LINES.map("\n".join), st.sampled_from(["green tea", "日本", "nothing", "the"]), st.integers(80, 700))
def test_it_is_never_longer_than_allowed(passage: str, query: str, most: int):
    assert len(snippet(passage, query, most).text) <= most


@settings(max_examples=100)
@given(LINES)
def test_the_line_that_is_cited_is_shown(lines: list[str]):
    shown = snippet("\n".join(lines), "green tea", 300)
    cited = lines[shown.line]
    assert cited.strip() in shown.text or len(cited) > 300


def test_a_long_line_is_shown_around_the_word():
    shown = snippet("word " * 400 + "violin " + "word " * 400, "violin", 200)
    assert "violin" in shown.text and shown.text.startswith("…") and shown.text.endswith("…")


def test_the_found_line_is_the_one_with_most_of_the_words():
    passage = "# Tea\n\nThe tea is cold.\nNobody makes green teas on a Monday.\nThe end."
    assert found_line(passage, "green tea", 100) == "Nobody makes green teas on a Monday."


@settings(max_examples=100)
@given(LINES, st.integers(20, 300))
def test_the_found_line_is_the_one_that_is_cited(lines: list[str], most: int):
    passage = "\n".join(lines)
    shown = found_line(passage, "green tea", most)
    cited = lines[snippet(passage, "green tea", 700).line] if len(passage) <= 700 else shown
    assert len(shown) <= most and (shown in ("", cited.strip()) or "…" in shown)


def test_a_passage_without_the_words_has_no_found_line():
    assert found_line("first\nsecond", "zebra", 80) == ""
