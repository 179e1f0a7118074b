"""Markdown becomes Telegram's HTML, which is always well formed and shows every word."""

from engram.channels.telegram.markup import to_html
from samples import Numbers

SHOWN = (
    ("plain text", "plain text"),
    ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
    ("**bold** and *italic*", "<b>bold</b> and <i>italic</i>"),
    ("__bold__ and _italic_", "<b>bold</b> and <i>italic</i>"),
    ("~~gone~~", "<s>gone</s>"),
    ("***both***", "<b><i>both</i></b>"),
    ("**bold with *italic* in it**", "<b>bold with <i>italic</i> in it</b>"),
    ("*italic with **bold** in it*", "<i>italic with <b>bold</b> in it</i>"),
    ("使用**粗体**文字", "使用<b>粗体</b>文字"),
    ("snake_case_name and 2*3*4", "snake_case_name and 2*3*4"),
    ("a * b * c", "a * b * c"),
    ("**open", "**open"),
    ("open* and _more", "open* and _more"),
    ("`a*b*<c>`", "<code>a*b*&lt;c&gt;</code>"),
    ("``a`b``", "<code>a`b</code>"),
    ("`open", "`open"),
    ("*a `*` b*", "<i>a <code>*</code> b</i>"),
    ("\\*no\\* \\`code\\`", "*no* `code`"),
    ("C:\\temp", "C:\\temp"),
    ("[site](https://e.org/a?b=1&c=2)", '<a href="https://e.org/a?b=1&amp;c=2">site</a>'),
    ("[**b**](https://e.org)", '<a href="https://e.org"><b>b</b></a>'),
    ("[E](https://e.org/E_(m))", '<a href="https://e.org/E_(m)">E</a>'),
    ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
    ("a[0] and (b)", "a[0] and (b)"),
    ("## A *title* ##", "<b>A <i>title</i></b>"),
    ("# **B**", "<b>**B**</b>"),
    ("#hashtag", "#hashtag"),
    ("- one\n* two\n  + three", "• one\n• two\n  • three"),
    ("1. one\n2. two", "1. one\n2. two"),
    ("> one\n> **two**\nthree", "<blockquote>one\n<b>two</b></blockquote>\nthree"),
    ("| a | b |\n|---|---|\nend", "<pre>| a | b |\n|---|---|</pre>\nend"),
    (
        "```python\nif a < b:\n    *x*\n```\nend",
        '<pre><code class="language-python">if a &lt; b:\n    *x*</code></pre>\nend',
    ),
    ("```\nx\n```", "<pre>x</pre>"),
    ("~~~\n```\n~~~", "<pre>```</pre>"),
    ("```c\nopen", '<pre><code class="language-c">open</code></pre>'),
    ('```"><b>\nx\n```', '<pre><code class="language-&quot;&gt;&lt;b&gt;">x</code></pre>'),
    ("```a``` inline", "<code>a</code> inline"),
    ("", ""),
)

PIECES = (
    "**", "*", "_", "__", "~~", "`", "``", "```", "\n", "\n```\n", "[", "](", "https://e.org", ")", "\\", "<", ">", "&", '"',
    "a", " ", "word", "中", "🙂", "# ", "- ", "> ", "| ", "|", "~~~", "- [x] ",
)  # fmt: skip


def _is_well_formed(html: str) -> bool:
    stack = []
    for part in html.split("<")[1:]:
        tag = part.split(">")[0]
        if tag[0] == "/":
            if not stack or stack.pop() != tag[1:]:
                return False
        else:
            stack.append(tag.split(" ")[0])
    return not stack


def test_markdown_is_shown_as_it_is_meant():
    for markdown, html in SHOWN:
        assert to_html(markdown) == html, (markdown, to_html(markdown))


def test_any_text_becomes_well_formed_html():
    numbers = Numbers(11)
    for _ in range(300):
        markdown = "".join([numbers.pick(PIECES) for _ in range(numbers.below(60))])
        html = to_html(markdown)
        assert _is_well_formed(html), (markdown, html)
        for word in ("word", "中", "🙂"):
            # What stands behind a fence names the code's language.
            assert html.count(word) == markdown.count(word), (markdown, html)


def test_many_marks_take_no_longer_than_many_letters():
    for marks in ("*a ", "_a ", "`", "[", "[](", "**a*", "`` ` ", "\\", "&", "> ", "|"):
        html = to_html(marks * (4000 // len(marks)))
        assert _is_well_formed(html), marks
