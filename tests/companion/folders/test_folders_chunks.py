"""Markdown is cut into passages that miss nothing, overlap a little, and know where they stand."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from engram import text as board
from engram_host.companion.folders.chunks import Passage, lines_of, split_passages

WORDS = st.sampled_from(["tea", "violin", "ゑ日本語", "x" * 30, "é", "🙂", "|", "`", "#", "\\"])
LINES = st.one_of(
    st.lists(WORDS, max_size=12).map(" ".join),
    st.sampled_from(
        ["", "", "# One", "## Two ##", "### Three", "```", "~~~~", "```py", "---", "===", "- item", "    code"]
    ),
    st.integers(1, 400).map(lambda size: "long " * size),
    st.integers(1, 700).map(lambda size: "語" * size),
)
TEXTS = st.lists(LINES, max_size=60).map("\n".join)
SHORT_TEXTS = st.lists(LINES.filter(lambda line: board.tokens(line) < 50), max_size=80).map("\n".join)
SIZES = st.tuples(st.integers(50, 200), st.integers(0, 24))


def headings(text: str) -> list[tuple[str, ...]]:
    return [passage.headings for passage in split_passages(text)]


def paragraphs(count: int, size: int = 30) -> str:
    """Paragraphs that differ, of so many words each."""
    return "\n\n".join(" ".join(f"w{number}x{word}" for word in range(size)) for number in range(count))


def between(one: Passage, other: Passage) -> str:
    """What a passage repeats of the one before it."""
    lines = other.text.split("\n")
    return "\n".join(lines[: max(0, one.last - other.first + 1)])


@settings(max_examples=80)
@given(TEXTS, SIZES)
def test_every_line_stands_in_a_passage(text: str, sizes: tuple[int, int]):
    covered = {line for passage in split_passages(text, *sizes) for line in range(passage.first, passage.last + 1)}
    assert covered >= {number for number, line in enumerate(lines_of(text), 1) if line.strip()}


@settings(max_examples=80)
@given(TEXTS, SIZES)
def test_a_passage_is_its_lines_or_a_part_of_long_ones(text: str, sizes: tuple[int, int]):
    lines = lines_of(text)
    for passage in split_passages(text, *sizes):
        named = lines[passage.first - 1 : passage.last]
        has_long = any(board.tokens(line) > sizes[0] for line in named)
        assert passage.text in "\n".join(named) if has_long else passage.text == "\n".join(named)


@settings(max_examples=80)
@given(TEXTS, SIZES)
def test_the_parts_of_long_lines_are_all_there(text: str, sizes: tuple[int, int]):
    """Without overlap the passages together are the text, but for empty lines."""
    together = "".join(passage.text for passage in split_passages(text, sizes[0], 0))
    assert together.replace("\n", "").replace(" ", "") == "".join(lines_of(text)).replace(" ", "")


@settings(max_examples=80)
@given(TEXTS, SIZES)
def test_no_passage_is_longer_than_its_room(text: str, sizes: tuple[int, int]):
    assert all(board.tokens(passage.text) <= sizes[0] for passage in split_passages(text, *sizes))


@settings(max_examples=80)
@given(SHORT_TEXTS, SIZES)
def test_passages_go_on_and_repeat_no_more_than_the_overlap(text: str, sizes: tuple[int, int]):
    for one, other in pairwise(split_passages(text, *sizes)):
        assert one.first < other.first and one.last < other.last
        assert board.tokens(between(one, other)) <= sizes[1]


def test_a_section_that_is_cut_goes_on_with_the_end_of_what_was_before():
    one, other = split_passages(paragraphs(12, 12), 100, 40)[:2]
    assert one.last >= other.first and between(one, other)


def test_a_change_in_one_section_leaves_the_passages_of_another_as_they_were():
    sections = [f"## Section {number}\n\n{paragraphs(6)}" for number in range(6)]
    before = {(passage.headings, passage.text) for passage in split_passages("\n\n".join(sections))}
    sections[0] += "\n\nand one more paragraph " * 3
    after = {(passage.headings, passage.text) for passage in split_passages("\n\n".join(sections))}
    assert len(after - before) <= 2


def test_headings_are_a_path():
    assert headings("# Travel\n\n## Japan\n\n" + paragraphs(20))[1] == ("Travel", "Japan")


def test_an_underlined_heading_is_one():
    assert headings("Travel\n======\n\n" + paragraphs(20))[-1] == ("Travel",)


def test_a_hash_without_a_space_is_no_heading():
    assert headings("#tag of a note\n" + paragraphs(20))[-1] == ()


def test_a_passage_of_several_sections_has_the_headings_above_all_of_them():
    assert headings("# Tea\n\n## Green\n\nSencha.\n\n## Black\n\nAssam.\n") == [("Tea",)]


def test_the_title_of_the_front_matter_stands_above_all_headings():
    assert headings('---\ntitle: "Winter"\n---\n# Snow\n' + paragraphs(20))[-1] == ("Winter", "Snow")


def test_a_block_of_code_that_fits_is_not_cut():
    code = "```\n" + "\n".join(f"line {number}" for number in range(20)) + "\n```"
    text = paragraphs(2, 20) + "\nbefore\n" + code + "\n" + paragraphs(3)
    assert any(code in passage.text for passage in split_passages(text, 150, 20))


def test_lines_end_as_editors_end_them():
    assert lines_of("\ufeffa\r\nb\x0bc\u2028d\r\n") == ["a", "b\x0bc\u2028d"]
