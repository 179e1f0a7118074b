"""Texts that would be markup, script or a template if a view let them, for each place that somebody else fills.

What they do, if they can: set `owned` of the window, ask another site, or change what stands around them.
"""

import itertools

from household import Kind

OWNED = "window.owned"
ELSEWHERE = "evil.example"
"""The host that a text tries to reach, or to lead to."""

SHORT = (
    "<img src=x onerror=owned=1>",
    "<svg onload=owned=1>",
    "\"onfocus='owned=1'autofocus x=\"",
    "<script>owned=1</script>",
    "{{7*7}}{%raw%}${7*7}",
    "javascript:owned=1",
)
"""For names and labels, which have 32 characters or little more."""

LONG = (
    "<img src=x onerror=window.owned=1>",
    "</p></td></div></main></title></textarea></style></script><script>window.owned=1</script>",
    f'"><iframe srcdoc="<script>parent.owned=1</script>"></iframe><iframe src=http://{ELSEWHERE}/frame></iframe>',
    f"![a picture](http://{ELSEWHERE}/pixel) ![b](data:image/svg+xml,<svg onload=owned=1>)",
    "[a link](javascript:window.owned=1) <javascript:window.owned=1> [b](data:text/html,<script>owned=1</script>) "
    "[c](JaVaScRiPt&colon;owned=1) [d](vbscript:owned=1)",
    '\' onmouseover=\'window.owned=1\' " autofocus onfocus="window.owned=1" style="position:fixed;inset:0"',
    f"<form action=http://{ELSEWHERE}/csrf method=post><input name=csrf autofocus onfocus=window.owned=1></form>",
    f"<base href=http://{ELSEWHERE}/><meta http-equiv=refresh content='0;url=http://{ELSEWHERE}/away'>",
    f"<style>*{{display:none}}</style><link rel=stylesheet href=http://{ELSEWHERE}/style.css>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.owned=1></style></mglyph></table></mtext></math>",
    "{{7*7}} {{config}} {%raw%}{%endraw%} ${7*7} <%= 7*7 %> {{ ''.__class__ }}",
    "\u202eright to left\u202c \u2028 a line \u2029 &lt;script&gt; &amp;amp; &#60;b&#62;",
    f"<object data=http://{ELSEWHERE}/o></object><embed src=http://{ELSEWHERE}/e><video src=http://{ELSEWHERE}/v>",
)
_IN_A_FILE_NAME = "\"'><img src=x onerror=owned=1>"


class Hostile:
    """Puts something hostile behind each text; another one each time."""

    def __init__(self) -> None:
        self._short = itertools.cycle(SHORT)
        self._long = itertools.cycle(range(len(LONG)))

    def __call__(self, kind: Kind, text: str) -> str:
        """The text with something behind it that fits where such a text may stand."""
        if kind == "file":
            return text + _IN_A_FILE_NAME
        if kind == "text":
            at = next(self._long)
            return "\n".join([text, *LONG[at:], *LONG[:at]])
        return (text + next(self._short))[:32]
