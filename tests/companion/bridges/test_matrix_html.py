"""Markdown as Matrix' clients show it."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.companion.bridges.matrix.bridge import render
from one_case import in_one_case


@in_one_case(
    "text, html",
    [
        ("a **b** _c_ `d` ~~e~~", "a <strong>b</strong> <em>c</em> <code>d</code> <s>e</s>"),
        ("one\ntwo", "one<br />\ntwo"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("one\n\n- two", "<p>one</p>\n<ul>\n<li>two</li>\n</ul>"),
        ("```python\na < b\n```", '<pre><code class="language-python">a &lt; b\n</code></pre>'),
        ("[a](https://a.example) <mailto:b@c.example>",
         '<a href="https://a.example">a</a> <a href="mailto:b@c.example">mailto:b@c.example</a>'),
    ],
)  # fmt: skip
def test_marks_become_tags(text, html):
    assert render(text) == html


@in_one_case("text", ["hello", "", "a & b < c", 'it\'s "so"', "<b>hello</b>"])
def test_a_text_without_marks_has_no_html(text):
    assert render(text) == ""


@in_one_case(
    "text",
    [
        "**a** <script>alert(1)</script>",
        "**a** [b](javascript:alert(1))",
        "**a** [b](data:text/html,c)",
        "**a** [b](/relative)",
        "**a** <javascript:alert(1)>",
        "**a** ![b](mxc://c/d)",
        "**a** ![b](data:image/png;base64,AA)",
    ],
)
def test_tags_images_and_other_links_are_shown_as_text(text):
    assert re.findall(r"<(\w+)", render(text)) == ["strong"]


@settings(max_examples=300)
@given(
    st.text(alphabet="ab*_~`<>[]()!&\"'\n#|- :/\\1.", max_size=200).map(lambda text: f"{text} <img src=x> [y](js:z)")
)
def test_of_any_text_no_tag_comes_that_clients_do_not_show(text):
    allowed = "p|br|strong|em|s|code|pre|a|ul|ol|li|blockquote|h[1-6]|hr|table|thead|tbody|tr|th|td"
    html = render(text)
    assert not re.search(rf"<(?!/?(?:{allowed})\b)", html)
    assert not re.search(r"href=\"(?!https?://|mailto:)", html)
