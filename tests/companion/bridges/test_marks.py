"""Markdown in the simpler marks of some networks, and mentions that are nothing but a name."""

import re
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.companion.bridges.irc.lines import CODES
from engram_host.companion.bridges.texts import Marks, with_marks, without_mention
from engram_host.companion.bridges.xmpp.stanzas import STYLING
from extent import HEALTH_CHECKS
from one_case import in_one_case

LONGEST_FENCE = 20
"""Marks: longer runs are text, since what opens a fence again is repeated in each part of an answer."""


@in_one_case(
    "markdown, xmpp, irc",
    [
        ("**bold** and *italic*", "*bold* and _italic_", "\x02bold\x02 and \x1ditalic\x1d"),
        ("__bold__ and _italic_", "*bold* and _italic_", "\x02bold\x02 and \x1ditalic\x1d"),
        ("**bold with *italic* in it**", "*bold with _italic_ in it*", "\x02bold with \x1ditalic\x1d in it\x02"),
        ("~~gone~~", "~gone~", "\x1egone\x1e"),
        ("run `ls *.py *.md` now", "run `ls *.py *.md` now", "run ls *.py *.md now"),
        ("## A heading ##", "*A heading*", "\x02A heading\x02"),
        ("#hashtag is none", "#hashtag is none", "#hashtag is none"),
        ("* one\n+ two\n  - three", "- one\n- two\n  - three", "- one\n- two\n  - three"),
        (
            "[the page](https://a.example/b_c_d)",
            "the page (https://a.example/b_c_d)",
            "the page (https://a.example/b_c_d)",
        ),
        ("[https://a.example](https://a.example)", "https://a.example", "https://a.example"),
        (
            "![a cat](https://a.example/cat.jpg)",
            "a cat (https://a.example/cat.jpg)",
            "a cat (https://a.example/cat.jpg)",
        ),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        (r"\*not italic\*", "*not italic*", "*not italic*"),
        ("**never closed", "**never closed", "**never closed"),
        ("```python\na = b ** c ** d\n```\nafter", "```\na = b ** c ** d\n```\nafter", "a = b ** c ** d\nafter"),
        ("```make tea``` first", "`make tea` first", "make tea first"),
        ("```a = 1``` and\n**b**", "`a = 1` and\n*b*", "a = 1 and\n\x02b\x02"),
        ("```sh run this\n**a**\n```\n**b**", "```\nrun this\n**a**\n```\n*b*", "run this\n**a**\n\x02b\x02"),
        ("~~~ c `x`\n**a**\n```\n~~~", "```\n`x`\n**a**\n```\n```", "`x`\n**a**\n```"),
        ("    ```\n**b**", "    ```\n*b*", "    ```\n\x02b\x02"),
        ("> quoted", "> quoted", "> quoted"),
        ("", "", ""),
    ],
)
def test_markdown_becomes_a_networks_own_marks(markdown: str, xmpp: str, irc: str):
    assert with_marks(markdown, STYLING) == xmpp
    assert with_marks(markdown, CODES) == irc


@given(st.text(alphabet="ab *_~`[]()#\\!\n", max_size=120))
@settings(suppress_health_check=HEALTH_CHECKS)
def test_no_letter_is_lost(text: str):
    shown = with_marks(text, Marks(code=""))
    lost = [sign for sign in _without_languages(text) if sign in "ab"]
    assert [sign for sign in shown if sign in "ab"] == lost


def _without_languages(text: str) -> str:
    """A text without the word behind the marks that open a block of code: the name of a language."""
    lines, fence = [], ""
    for line in text.split("\n"):
        found = re.fullmatch(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)", line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found and len(found[1]) <= LONGEST_FENCE:
            fence = found[1]
            line = found[2].strip().partition(" ")[2]
        lines.append(line)
    return "\n".join(lines)


def test_a_text_full_of_marks_that_are_never_closed_takes_no_time():
    began = time.process_time()
    with_marks("**a __b ~~c *d _e [f](" * 400, STYLING)
    assert time.process_time() - began < 2


@in_one_case("text", ["a" + "`" * 5999, "a" + "`" * 2000 + "x" * 1001 + "`" * 1999 + "y" * 900])
def test_long_runs_of_backticks_stay_as_they_are_and_take_no_longer_than_code(text: str):
    def seconds(of: str) -> float:
        began = time.process_time()
        with_marks(of, STYLING)
        return time.process_time() - began

    plain = sum(seconds("`a` " * 1500) for _ in range(5)) / 5
    assert with_marks(text, STYLING) == text
    assert seconds(text) < 30 * plain


def test_code_in_a_line_may_have_fewer_or_more_backticks_in_it():
    assert with_marks("`` a`b `` and ` c``d `", STYLING) == "`a`b` and `c``d`"


@in_one_case(
    "text, rest, is_mentioned",
    [
        ("engram: hello", "hello", True),
        ("Engram, hello", "hello", True),
        ("@engram hello", "hello", True),
        ("engram hello", "hello", True),
        ("engram", "", True),
        ("hello engram", "hello engram", True),
        ("hello (engram)!", "hello (engram)!", True),
        ("engrams are memories", "engrams are memories", False),
        ("my-engram is mine", "my-engram is mine", False),
        ("engram_ is another", "engram_ is another", False),
        ("hello", "hello", False),
    ],
)
def test_a_nickname_is_a_mention_at_the_beginning_and_as_a_word(text: str, rest: str, is_mentioned: bool):
    assert without_mention(text, "engram") == (rest, is_mentioned)


def test_a_nickname_of_odd_signs_is_taken_as_it_is():
    assert without_mention("hello [x]^_", "[x]^_") == ("hello [x]^_", True)
    assert without_mention("hello x", "[x]^_") == ("hello x", False)
