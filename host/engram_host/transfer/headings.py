"""Headings of a Markdown page: day and tag for the items below them."""

import re
from datetime import date

from engram.memory.records import fields as record_fields

DEFAULT_TAG = "imported"

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = r"(?P<y>(?:19[7-9]|20\d|21\d)\d)"
_DAY = r"(?P<d>\d{1,2})"
_NUMERALS = " 一二三四五六七八九"
_NUMERAL = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_FORMS = [
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        rf"\b{_YEAR}(?P<sign>[-./])(?P<m>\d{{1,2}})(?P=sign){_DAY}(?:T\S*|\b)",
        rf"\b{_DAY}(?P<sign>[-./])(?:(?P<m>\d{{1,2}})|{_MONTH.replace('<m>', '<name>')})(?P=sign){_YEAR}\b",
        rf"\b{_MONTH}\b\.?,?\s+{_DAY}(?:st|nd|rd|th)?\b(?:,?\s+{_YEAR}\b)?",
        rf"(?:\bthe\s+)?\b{_DAY}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b\.?(?:,?\s+{_YEAR}\b)?",
        rf"(?:{_YEAR}\s*[年년]\s*)?(?P<m>{_NUMERAL})\s*[月월]\s*(?P<d>{_NUMERAL})\s*[日号일]",
    )
]
_WEEKDAY = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b|(?:星期|礼拜|周)[一二三四五六日天]",
    re.ASCII | re.IGNORECASE,
)
_AROUND = " .,:;()[]{}<>*_`\"'!?|~-–—·•（），：、"


class Headings:
    def __init__(self) -> None:
        self._open: list[tuple[int, int, date | None, str]] = [(0, 0, None, DEFAULT_TAG)]

    @property
    def given(self) -> tuple[date | None, str]:
        return self._open[-1][2:]

    def read(self, level: int, heading: str) -> None:
        """Open a heading; it inherits from the open headings above its level."""
        while self._open[-1][0] >= level:
            self._open.pop()
        _, year, day, tag = self._open[-1]
        named, year, rest = find_day(heading, year)
        if len(rest) <= record_fields.TAG_LONGEST:
            tag = record_fields.tag(rest) or tag
        self._open.append((level, year, named or day, tag))


def find_day(text: str, year: int = 0) -> tuple[date | None, int, str]:
    """Find a day in a text: (day, its year or `year`, the other words)."""
    if found := re.search(rf"\b{_YEAR}(?!\d)", text, re.ASCII):
        year = int(found["y"])
    for form in _FORMS:
        for match in form.finditer(text):
            if day := _matched_day(match.groupdict(), year):
                rest = _WEEKDAY.sub(" ", f"{text[: match.start()]} {text[match.end() :]}")
                words = (word for word in rest.replace(",", " ").split() if word.strip(_AROUND))
                return day, day.year, " ".join(words).strip(_AROUND)
    return None, year, text


def _matched_day(found: dict[str, str | None], year: int) -> date | None:
    """Return the day of a match; None if it is invalid or ambiguous, such as 03/04/2026."""
    day, month = _number(found["d"]), _number(found.get("name") or found["m"])
    if "name" in found and not found["name"] and found["sign"] != ".":
        if max(day, month) <= 12 and day != month:
            return None
        day, month = (month, day) if month > 12 else (day, month)
    try:
        return date(int(found["y"] or year), month, day)
    except ValueError:
        return None


def _number(word: str | None) -> int:
    word = (word or "").lower()
    if word[:3] in _MONTHS:
        return _MONTHS.index(word[:3]) + 1
    if word.isascii():
        return int(word or 0)
    tens, ten, ones = word.rpartition("十")
    return (10 * (_NUMERALS.find(tens) if tens else 1) if ten else 0) + _NUMERALS.find(ones)
