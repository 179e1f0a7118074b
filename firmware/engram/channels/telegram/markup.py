"""Turns the Markdown that models write into Telegram's HTML, line by line.

```lang            <pre><code class="language-lang">, to the closing fence or the end
# Heading          <b>
- item, * item     a bullet; `- [ ]` and `- [x]` a box
> quote            <blockquote>
| a | table |      <pre>
--- or ***         a line
**b** __b__ *i* _i_ ~~s~~ `code` [text](url) within a line, nested at most once each

What is none of these is text. The HTML is always well formed. Nothing is raised here but MemoryError.
"""

from engram.channels.telegram.split import closes, fence_of
from engram.compat import const
from engram.text import decode, encode

_RULE = const(b"\xe2\x80\x94\xe2\x80\x94\xe2\x80\x94")  # "———"
_BULLET = const(b"\xe2\x80\xa2 ")  # "• "
_BOXES = const(((b"[ ] ", b"\xe2\x98\x90 "), (b"[x] ", b"\xe2\x98\x91 "), (b"[X] ", b"\xe2\x98\x91 ")))  # "☐ ", "☑ "
_STYLES = const(((b"**", b"b"), (b"__", b"b"), (b"~~", b"s"), (b"*", b"i"), (b"_", b"i")))
_SCHEMES = const((b"http://", b"https://", b"mailto:", b"tg://"))
_ESCAPABLE = const(b"\\`*_{}[]()#+-.!~>|")
_MARKS = const(b"\\`*_~[&<>")  # what a line is searched for
_LONGEST_RUN = const(8)  # backticks: a longer run is text
_LONGEST_URL = const(1000)  # bytes: protects against a search through the whole line for each bracket
_HEADING_LEVELS = const(6)

_TABLE = const((b"<pre>", b"</pre>"))
_QUOTE = const((b"<blockquote>", b"</blockquote>"))
_LANGUAGE = const(b'<pre><code class="language-')


def to_html(markdown: str) -> str:
    """The HTML that shows a text as its Markdown means it."""
    blocks = _Blocks()
    data = encode(markdown)
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        blocks.add(data[at:end])
        at = end + 1
    return blocks.end()


class _Blocks:
    """Writes line after line, and opens and closes what several lines share."""

    def __init__(self):
        self._out = bytearray()
        self._fence = b""  # that opened the present code
        self._closing = b""  # the tags that close the present block

    def add(self, line: bytes) -> None:
        if self._fence:
            if closes(line, self._fence):
                self._close()
            else:
                _escape(self._out, line)
                self._out.extend(b"\n")
            return
        fence = fence_of(line)
        if fence:
            self._close()
            self._fence = fence
            self._open_code(line.strip()[len(fence) :].split())
            return
        bare = line.lstrip(b" ")
        if bare[:1] == b"|" and bare.count(b"|") > 1:
            self._within(_TABLE)
            _escape(self._out, bare)
        elif bare[:1] == b">":
            self._within(_QUOTE)
            bare = bare[1:].lstrip(b" ")
            _style(self._out, bare, 0, len(bare), b"")
        else:
            self._close()
            _line(self._out, line, bare)
        self._out.extend(b"\n")

    def end(self) -> str:
        self._close()
        return decode(self._out.strip(b"\n"))

    def _within(self, tags: tuple) -> None:
        if self._closing != tags[1]:
            self._close()
            self._out.extend(tags[0])
            self._closing = tags[1]

    def _open_code(self, words: list) -> None:
        if words:
            self._out.extend(_LANGUAGE)
            _escape(self._out, words[0])
            self._out.extend(b'">')
            self._closing = b"</code></pre>"
            if len(words) > 1:
                _escape(self._out, b" ".join(words[1:]) + b"\n")
        else:
            self._out.extend(b"<pre>")
            self._closing = b"</pre>"

    def _close(self) -> None:
        if self._closing:
            if self._out[-1:] == b"\n":
                self._out = self._out[:-1]
            self._out.extend(self._closing)
            self._out.extend(b"\n")
            self._closing = self._fence = b""


def _line(out: bytearray, line: bytes, bare: bytes) -> None:
    """Write a line that is in no block."""
    level = len(bare) - len(bare.lstrip(b"#"))
    if 0 < level <= _HEADING_LEVELS and bare[level : level + 1] == b" ":
        title = bare[level:].strip().rstrip(b"#").rstrip()
        out.extend(b"<b>")
        _style(out, title, 0, len(title), b"b")
        out.extend(b"</b>")
    elif _is_rule(bare):
        out.extend(_RULE)
    elif bare[:2] in (b"- ", b"* ", b"+ "):
        out.extend(line[: len(line) - len(bare)])
        bare = bare[2:].lstrip(b" ")
        sign = _BULLET
        for mark, box in _BOXES:
            if bare.startswith(mark):
                sign = box
                bare = bare[len(mark) :]
        out.extend(sign)
        _style(out, bare, 0, len(bare), b"")
    else:
        _style(out, line, 0, len(line), b"")


def _is_rule(bare: bytes) -> bool:
    marks = bare.replace(b" ", b"")
    return len(marks) > 2 and marks[:1] in (b"-", b"*", b"_") and not marks.strip(marks[:1])


# --- within a line


def _style(out: bytearray, data: bytes, at: int, end: int, within: bytes) -> None:
    """Write data[at:end]; `within` has a letter for each style around it, which is not opened again."""
    hopeless = set()  # marks that are closed nowhere: not searched for again
    while at < end:
        start = at
        while at < end and data[at] not in _MARKS:
            at += 1
        out.extend(data[start:at])
        if at == end:
            return
        mark = data[at]
        if mark == 0x5C and at + 1 < end and data[at + 1] in _ESCAPABLE:
            _escape(out, data[at + 1 : at + 2])
            at += 2
            continue
        if mark == 0x60:
            found = _code(out, data, at, end, hopeless)
        elif mark == 0x5B:
            found = _link(out, data, at, end, within, hopeless)
        else:
            found = _styled(out, data, at, end, within, hopeless)
        if not found:
            _escape(out, data[at : at + 1])
        at = found or at + 1


def _code(out: bytearray, data: bytes, at: int, end: int, hopeless: set) -> int:
    """Write the code that begins at `at`; where it ends, or all of a run of backticks that opens none."""
    count = 1
    while at + count < end and data[at + count] == 0x60:
        count += 1
    close = _run(data, at + count, end, count) if count <= _LONGEST_RUN and count not in hopeless else -1
    if close < 0:
        hopeless.add(count)
        out.extend(data[at : at + count])
        return at + count
    out.extend(b"<code>")
    _escape(out, data[at + count : close])
    out.extend(b"</code>")
    return close + count


def _run(data: bytes, at: int, end: int, count: int) -> int:
    """Where the next run of exactly `count` backticks begins, -1 if there is none."""
    while True:
        at = data.find(b"`" * count, at, end)
        if at < 0:
            return -1
        after = at + count
        while after < end and data[after] == 0x60:
            after += 1
        if after - at == count:
            return at
        at = after


def _link(out: bytearray, data: bytes, at: int, end: int, within: bytes, hopeless: set) -> int:
    """Write the link that begins at `at`; where it ends, 0 if there is none."""
    middle = -1 if b"](" in hopeless or b"a" in within else data.find(b"](", at, end)
    if middle < 0:
        hopeless.add(b"](")
        return 0
    start = middle + 2
    close = data.find(b")", start, min(end, start + _LONGEST_URL))
    if close > 0 and b"(" in data[start:close] and data[close + 1 : close + 2] == b")":
        close += 1  # https://.../Engram_(memory)
    url = data[start:close].strip() if close > 0 else b""
    if not url.startswith(_SCHEMES) or b" " in url or at + 1 == middle:
        return 0
    out.extend(b'<a href="')
    _escape(out, url)
    out.extend(b'">')
    _style(out, data, at + 1, middle, within + b"a")
    out.extend(b"</a>")
    return close + 1


def _styled(out: bytearray, data: bytes, at: int, end: int, within: bytes, hopeless: set) -> int:
    """Write what is bold, italic or struck through from `at`; where it ends, 0 if nothing is."""
    if at and data[at] == 0x5F and _is_word(data[at - 1]):
        return 0  # snake_case
    found = [style for style in _STYLES if data[at : at + len(style[0])] == style[0]]
    if not found:
        return 0
    mark, tag = found[0]
    inside = at + len(mark)
    if mark in hopeless or tag in within or inside >= end or data[inside] in b" \t":
        return 0
    if mark == b"*" and at and _is_word(data[at - 1]):
        return 0  # 2*3*4
    close = _closing(data, inside + 1, end, mark)
    if close < 0:
        hopeless.add(mark)
        return 0
    for part in (b"<", tag, b">"):
        out.extend(part)
    _style(out, data, inside, close, within + tag)
    for part in (b"</", tag, b">"):
        out.extend(part)
    return close + len(mark)


def _closing(data: bytes, at: int, end: int, mark: bytes) -> int:
    """Where a style is closed, -1 if nowhere: not after a space, and not within code."""
    code = data.find(b"`", at, end)
    while True:
        at = data.find(mark, at, end)
        if at < 0:
            return -1
        if 0 <= code < at:
            after = data.find(b"`", code + 1, end)
            if after > at:
                at = after
            code = data.find(b"`", after + 1, end) if after > 0 else -1
            continue
        after = at + len(mark)
        run = after
        while run < end and data[run] == mark[0]:
            run += 1
        # Of ** and more a single mark closes nothing, but where *** ends both.
        if len(mark) == 1 and run - at == 2:
            at = run
            continue
        at = run - len(mark)
        is_inside_word = mark[0] == 0x5F and run < end and _is_word(data[run])
        if data[at - 1] not in b" \t\\" and not is_inside_word:
            return at
        at = run


def _is_word(byte: int) -> bool:
    return 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x5A or 0x61 <= byte <= 0x7A


def _escape(out: bytearray, data: bytes) -> None:
    for mark, entity in ((b"&", b"&amp;"), (b"<", b"&lt;"), (b">", b"&gt;"), (b'"', b"&quot;")):
        if mark in data:
            data = data.replace(mark, entity)
    out.extend(data)
