"""Turns the Markdown that models write into Telegram's HTML, line by line.

```lang            <pre><code class="language-lang">, to the closing fence or the end
# Heading          <b>
- item, * item     a bullet
> quote            <blockquote>
| a | table |      <pre>
**b** __b__ *i* _i_ ~~s~~ `code` [text](url) within a line, nested at most once each

What is none of these is text. The HTML is always well formed. Nothing is raised here but MemoryError.
"""

from engram.text import decode, encode
from engram.text.cutting import closes, fence_of

_BULLET = const(b"\xe2\x80\xa2 ")  # "• "
_STYLES = const(((b"**", b"b"), (b"__", b"b"), (b"~~", b"s"), (b"*", b"i"), (b"_", b"i")))
_SCHEMES = const((b"http://", b"https://", b"mailto:", b"tg://"))
_ESCAPABLE = const(b"\\`*_{}[]()#+-.!~>|")
_MARKS = const(b'\\`*_~[&<>"')  # what a line is searched for
_LONGEST_RUN = const(8)  # backticks: a longer run is text
_LONGEST_SPAN = const(1000)  # bytes of code or of a link: bounds the search for its end
_HEADING_LEVELS = const(6)

_TABLE = const((b"<pre>", b"</pre>"))
_QUOTE = const((b"<blockquote>", b"</blockquote>"))


def to_html(markdown: str) -> str:
    lines = []
    fence = b""  # that opened the present code
    code = tags = None  # (opening, closing) of the present code, and of the block that is open
    for line in encode(markdown).split(b"\n"):
        opening = not fence and fence_of(line)
        new = html = None
        if opening:
            fence, language = opening, line.strip()[len(opening) :].strip()
            head = b'<pre><code class="language-' + _escape(language) + b'">'
            code = (head, b"</code></pre>") if language else _TABLE
        elif not fence:
            new, html = _block(line)
        elif closes(line, fence):
            fence = b""
            if not tags:
                new, html = code, b""  # no line of code came
        else:
            new, html = code, _escape(line)
        if tags and new != tags:
            lines[-1] += tags[1]
            tags = None
        if html is not None:
            lines.append(new[0] + html if new and not tags else html)
            tags = new
    if fence and not tags:
        lines.append(code[0] + code[1])
    elif tags:
        lines[-1] += tags[1]
    return decode(b"\n".join(lines).strip(b"\n"))


def _block(line: bytes) -> tuple:
    bare = line.lstrip(b" ")
    if bare[:1] == b"|" and bare.count(b"|") > 1:
        return _TABLE, _escape(bare)
    if bare[:1] == b">":
        return _QUOTE, _inline(bare[1:].lstrip(b" "))
    level = len(bare) - len(bare.lstrip(b"#"))
    if 0 < level <= _HEADING_LEVELS and bare[level : level + 1] == b" ":
        return None, b"<b>" + _inline(bare[level:].strip().rstrip(b"#").rstrip(), b"b") + b"</b>"
    if bare[:2] in (b"- ", b"* ", b"+ "):
        return None, line[: len(line) - len(bare)] + _BULLET + _inline(bare[2:].lstrip(b" "))
    return None, _inline(line)


def _inline(data: bytes, within: bytes = b"") -> bytes:
    """Return a line's HTML; `within` has a letter for each enclosing tag."""
    out = []
    opened = []  # (tag, mark, its place in out, where it ends) of styles that are not closed yet
    at = 0
    while at < len(data):
        start = at
        while at < len(data) and data[at] not in _MARKS:
            at += 1
        html = data[start:at]
        if at < len(data) and not html:
            html, at = _atom(data, at, within) or _style(data, at, within, out, opened)
        out.append(html)
    return b"".join(out)


def _atom(data: bytes, at: int, within: bytes):
    """Return (HTML, end) of an escape, code or link at `at`, or None."""
    mark = data[at : at + 1]
    if mark == b"\\" and at + 1 < len(data) and data[at + 1] in _ESCAPABLE:
        return _escape(data[at + 1 : at + 2]), at + 2
    if mark == b"[" and b"a" not in within:
        return _link(data, at, within)
    if mark != b"`":
        return None
    inside = at
    while data[inside : inside + 1] == b"`":
        inside += 1
    run = data[at:inside]
    close = data.find(run, inside, inside + _LONGEST_SPAN) if len(run) <= _LONGEST_RUN else -1
    if close < 0 or data[close + len(run) : close + len(run) + 1] == b"`":
        return run, inside
    return b"<code>" + _escape(data[inside:close]) + b"</code>", close + len(run)


def _link(data: bytes, at: int, within: bytes):
    middle = data.find(b"](", at, at + _LONGEST_SPAN)
    close = data.find(b")", middle, middle + _LONGEST_SPAN) if middle > at + 1 else -1
    if close < 0:
        return None
    if b"(" in data[middle + 2 : close] and data[close + 1 : close + 2] == b")":
        close += 1  # https://.../Engram_(memory)
    url = data[middle + 2 : close].strip()
    if not url.startswith(_SCHEMES) or b" " in url:
        return None
    words = _inline(data[at + 1 : middle], within + b"a")
    return b'<a href="' + _escape(url) + b'">' + words + b"</a>", close + 1


def _style(data: bytes, at: int, within: bytes, out: list, opened: list) -> tuple:
    """Return (HTML, end) of a mark, which opens or closes a style or is text."""
    for place in range(len(opened) - 1, -1, -1):
        tag, mark, begun, inside = opened[place]
        end = at + len(mark)
        if data[at:end] == mark and inside < at and _may_close(data, at, end):
            out[begun] = b"<" + tag + b">"
            del opened[place:]
            return b"</" + tag + b">", end
        within += tag
    for mark, tag in _STYLES:
        end = at + len(mark)
        if data[at:end] == mark:
            # Not in snake_case, nor in 2*3*4.
            is_inside_word = at and _is_word(data[at - 1]) and (data[at] == 0x5F or end - at == 1)
            if tag not in within and data[end : end + 1] not in (b"", b" ", b"\t") and not is_inside_word:
                opened.append((tag, mark, len(out), end))
            return mark, end
    return _escape(data[at : at + 1]), at + 1


def _may_close(data: bytes, at: int, end: int) -> bool:
    is_inside_word = data[at] == 0x5F and end < len(data) and _is_word(data[end])
    # A single mark of ** closes nothing, unless *** ends both.
    is_half = end - at == 1 and data[end : end + 1] == data[at:end] and data[end + 1 : end + 2] != data[at:end]
    return data[at - 1] not in b" \t" and not (is_inside_word or is_half)


def _is_word(byte: int) -> bool:
    return 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x5A or 0x61 <= byte <= 0x7A


def _escape(data: bytes) -> bytes:
    for mark, entity in ((b"&", b"&amp;"), (b"<", b"&lt;"), (b">", b"&gt;"), (b'"', b"&quot;")):
        data = data.replace(mark, entity)
    return data
