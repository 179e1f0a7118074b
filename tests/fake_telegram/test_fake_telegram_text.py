"""Entities and marks: UTF-16 offsets, both parse modes, and what the service finds by itself."""

import html
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.fake_telegram import ApiError, Entity, utf16_length, utf16_slice
from engram_host.fake_telegram.text.entities import Rich, find_entities, finish_text
from engram_host.fake_telegram.text.html_marks import parse_html
from engram_host.fake_telegram.text.markdown_marks import RESERVED, parse_markdown
from one_case import in_one_case

WORDS = st.text(st.sampled_from("ab é日😀🇩👍\n.!_*<>&"), min_size=1, max_size=12)
EXAMPLES = settings(max_examples=100)


def kinds(rich):
    text, entities = rich
    return text, [(entity.type, utf16_slice(text, entity.offset, entity.length)) for entity in entities]


def escaped(text: str) -> str:
    return re.sub(f"([{re.escape(RESERVED)}\\\\])", r"\\\1", text)


HTML = (parse_html, html.escape, "<b>", "</b>")
MARKDOWN = (parse_markdown, escaped, "~", "~")


@pytest.mark.parametrize(("parse", "quote", "opening", "closing"), [HTML, MARKDOWN], ids=["html", "markdown"])
@EXAMPLES
@given(before=WORDS, inside=WORDS, behind=WORDS)
def test_marks_cover_the_same_text_wherever_it_is(
    before: str,
    inside: str,
    behind: str,
    parse: Callable[[str], Rich],
    quote: Callable[[str], str],
    opening: str,
    closing: str,
):
    text, (entity,) = parse(f"{quote(before)}{opening}{quote(inside)}{closing}{quote(behind)}")
    assert text == before + inside + behind
    assert utf16_slice(text, entity.offset, entity.length) == inside


@EXAMPLES
@given(WORDS, WORDS)
def test_trimming_moves_entities_with_their_text(before: str, inside: str):
    source = f" \n{before}{inside} \n"
    entity = Entity("bold", utf16_length(f" \n{before}"), utf16_length(inside))
    try:
        text, entities = finish_text(source, [entity])
    except ApiError:
        assert not source.strip()
        return
    bold = [one for one in entities if one.type == "bold"]
    assert utf16_length(text) == len(text.encode("utf-16-le")) // 2
    assert all(utf16_slice(text, one.offset, one.length) == inside.rstrip(" \n") for one in bold)
    assert bool(bold) == bool(inside.strip(" \n")) or inside.isspace()


@EXAMPLES
@given(WORDS)
def test_found_entities_are_where_they_are_found(text: str):
    source = f"{text} /stats@some_bot 😀 @some_name"
    found = {entity.type: utf16_slice(source, entity.offset, entity.length) for entity in find_entities(source)}
    assert found["bot_command"] == "/stats@some_bot" and found["mention"] == "@some_name"


@EXAMPLES
@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(source: str):
    for parse in (parse_html, parse_markdown):
        try:
            text, entities = parse(source)
        except ApiError as error:
            assert error.code == 400
        else:
            assert all(0 <= entity.offset < entity.end <= utf16_length(text) for entity in entities)


@in_one_case(
    "source, text, entities",
    [
        ("<b>a<i>b</i></b>", "ab", [("bold", "ab"), ("italic", "b")]),
        ("<B>a</b>", "a", [("bold", "a")]),
        (
            "<u>a</u><s>b</s><tg-spoiler>c</tg-spoiler>",
            "abc",
            [("underline", "a"), ("strikethrough", "b"), ("spoiler", "c")],
        ),
        ('<span class="tg-spoiler">a</span>', "a", [("spoiler", "a")]),
        ("<code>a &lt; b</code>", "a < b", [("code", "a < b")]),
        ('<pre><code class="language-py">x</code></pre>', "x", [("pre", "x")]),
        ('<a href="https://example.com/?a=1&amp;b=2">x</a>', "x", [("text_link", "x")]),
        ("<a href='mailto:a@b.c'>x</a>", "x", [("text_link", "x")]),
        ('<a href="nowhere">x</a>', "x", []),
        ("<blockquote expandable>x</blockquote>", "x", [("expandable_blockquote", "x")]),
        ("&#128512;&#x1F600;&nbsp;&quot;", '😀😀&nbsp;"', []),
        ("<b></b>a", "a", []),
        ("1 > 0 & 2", "1 > 0 & 2", []),
    ],
)
def test_html_is_read_as_documented(source: str, text: str, entities: list):
    assert kinds(parse_html(source)) == (text, entities)


def test_a_language_and_a_link_are_kept():
    _, (code,) = parse_html('<pre><code class="language-py">x</code></pre>')
    _, (link,) = parse_html('<a href="https://example.com?a=1&amp;b=2">x</a>')
    _, (pre,) = parse_markdown("```py\nx```")
    assert (code.language, link.url, pre.language) == ("py", "https://example.com?a=1&b=2", "py")
    assert parse_html("<a href='example.com'>x</a>")[1][0].url == "http://example.com/"


@in_one_case(
    "source, problem",
    [
        ("a < b", "Unsupported start tag"),
        ("<b>a", 'Can\'t find end tag corresponding to start tag "b"'),
        ("é<b>a</i>", 'Unmatched end tag at byte offset 6, expected "</b>", found "</i>"'),
        ("a</b>", "Unexpected end tag at byte offset 1"),
        ("<h1>a</h1>", 'Unsupported start tag "h1" at byte offset 0'),
        ("<br>", 'Unsupported start tag "br" at byte offset 0'),
        ("<span>a</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ("a<b", "Unclosed start tag at byte offset 1"),
        ("<b>a</b", "Unclosed end tag at byte offset 4"),
        ('<a href="x', "the tag"),
        ("&#xD83D;", "invalid Unicode"),
    ],
)
def test_html_is_refused_as_by_the_service(source: str, problem: str):
    with pytest.raises(ApiError) as caught:
        parse_html(source)
    assert caught.value.description.startswith("Bad Request: can't parse entities: ")
    assert problem in caught.value.description


@in_one_case(
    "source, text, entities",
    [
        ("*a _b_*", "a b", [("bold", "a b"), ("italic", "b")]),
        ("__a__~b~||c||", "abc", [("underline", "a"), ("strikethrough", "b"), ("spoiler", "c")]),
        ("`a.b!`", "a.b!", [("code", "a.b!")]),
        ("```\na\nb```", "a\nb", [("pre", "a\nb")]),
        ("```py\na```", "a", [("pre", "a")]),
        (r"[x\.y](https://example.com/a\)b)", "x.y", [("text_link", "x.y")]),
        (r"a\. b\! \*", "a. b! *", []),
        ("\\\\a", "\\a", []),
        (">a\n>b\nc", "a\nb\nc", [("blockquote", "a\nb\n")]),
        (">a||", "a", [("expandable_blockquote", "a")]),
        ("_a_**b*", "a", None),
        ("**a*", "a", None),
        ("_a__", "a", None),
    ],
)
def test_markdown_is_read_as_documented(source: str, text: str, entities: list | None):
    if entities is None:
        with pytest.raises(ApiError):
            parse_markdown(source)
    else:
        assert kinds(parse_markdown(source)) == (text, entities)


@in_one_case(
    "source, problem",
    [
        ("a.", "Character '.' is reserved and must be escaped with the preceding '\\'"),
        ("- a", "Character '-' is reserved"),
        ("a > b", "Character '>' is reserved"),
        ("1 | 2", "Character '|' is reserved"),
        ("hi!", "Character '!' is reserved"),
        ("é*a", "Can't find end of Bold entity at byte offset 2"),
        ("_a", "Can't find end of Italic entity at byte offset 0"),
        ("```a", "Can't find end of Pre entity at byte offset 0"),
        ("[a", "Can't find end of TextUrl entity at byte offset 0"),
        ("[a](b", "Can't find end of a URL at byte offset 4"),
    ],
)
def test_markdown_is_refused_as_by_the_service(source: str, problem: str):
    with pytest.raises(ApiError) as caught:
        parse_markdown(source)
    assert caught.value.description.startswith(f"Bad Request: can't parse entities: {problem}")


@in_one_case(
    "text, entities",
    [
        ("/start now", [("bot_command", "/start")]),
        ("see /help@a_bot.", [("bot_command", "/help@a_bot")]),
        ("a/b //c </d> /e/f", []),
        ("@ann, @b and mail@host.org", [("mention", "@ann"), ("email", "mail@host.org")]),
        ("#tea is not #1 or a#b", [("hashtag", "#tea")]),
        ("go to https://example.com/a?b=1.", [("url", "https://example.com/a?b=1")]),
        ("日本 /stats", [("bot_command", "/stats")]),
    ],
)
def test_commands_mentions_links_and_hashtags_are_found(text: str, entities: list):
    assert kinds(finish_text(text, ())) == (text, entities)


def test_nothing_is_found_in_code():
    text, entities = parse_html("<code>/stats</code> /stats")
    assert kinds(finish_text(text, entities))[1] == [("code", "/stats"), ("bot_command", "/stats")]


@pytest.mark.parametrize(
    ("offset", "length", "problem"),
    [(0, 9, "ends after the end"), (1, 1, "middle of a UTF-16 symbol"), (0, 0, "length"), (-1, 1, "length")],
)
def test_an_entity_that_does_not_fit_its_text_is_refused(offset: int, length: int, problem: str):
    with pytest.raises(ApiError, match=problem):
        finish_text("😀ab", [Entity("bold", offset, length)])


def test_entities_that_cross_each_other_are_refused():
    with pytest.raises(ApiError, match="cross"):
        finish_text("abcd", [Entity("bold", 0, 2), Entity("italic", 1, 2)])


def test_control_characters_become_spaces_and_carriage_returns_go():
    assert finish_text("a\tb\r\nc\x07", [Entity("bold", 0, 3)]) == ("a b\nc", (Entity("bold", 0, 3),))
