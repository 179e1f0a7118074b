"""The recorded session of the README: the console examples of a page as one animated SVG.

    python3 tools/build/session_svg.py      writes docs/start/session.svg again

The page is the source, and its examples are played by a test: so the picture shows what the firmware prints. Lines appear
one after the other. Where nothing is animated (print, reduced motion, some viewers) all of them stand there at once.
"""

import argparse
import re
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "start" / "model.md"
PICTURE = ROOT / "docs" / "start" / "session.svg"

_FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)

_FONT, _LINE, _CHARACTER, _MARGIN = 14, 20, 8.43, 16
"""Pixels: of the font, from line to line, of a monospaced character's width, around the text."""

_TYPING, _READING, _PAUSE = 0.05, 0.35, 0.9
"""Seconds: for each typed character, before an answer's line, before something is typed."""

_STYLE = """
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d0d7de; white-space: pre }
.shell { fill: #7ee787 } .typed { fill: #ffffff; font-weight: bold } .notice { fill: #79c0ff }
text { animation: appear 0.1s both } @keyframes appear { from { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { text { animation: none } }
"""


def session(page: str) -> list[str]:
    """The lines of all console examples of a page."""
    return [line for fence in _FENCE.finditer(page) for line in fence[1].splitlines()]


def picture(lines: list[str]) -> str:
    """The lines as an animated SVG."""
    width = round(max(map(len, lines)) * _CHARACTER) + 2 * _MARGIN
    height = len(lines) * _LINE + 2 * _MARGIN
    at = 0.0
    rows: list[str] = []
    for number, line in enumerate(lines):
        kind = _kind(line)
        is_typed = kind in ("shell", "typed")
        at += _PAUSE + _TYPING * len(line) if is_typed and number else _READING
        y = _MARGIN + _FONT + number * _LINE
        name = f' class="{kind}"' if kind else ""
        rows.append(f'<text x="{_MARGIN}" y="{y}"{name} style="animation-delay:{at:.2f}s">{escape(line)}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            f"<title>A recorded session of Engram</title><style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
            *rows,
            "</svg>\n",
        ]
    )


def _kind(line: str) -> str:
    """What a line is: the shell's command, a typed message, a notice, or an answer."""
    return {"$ ": "shell", "> ": "typed", "· ": "notice"}.get(line[:2], "")


def main() -> int:
    """Write the picture."""
    argparse.ArgumentParser(description="Draw the recorded session of the README again.").parse_args()
    PICTURE.write_text(picture(session(PAGE.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
