"""Pages of Markdown and what is remembered of them, the same on a board and through a computer."""

LIST = """# Notes

Some words that stand in no list.

- Ann likes tea #food
* Bob sings
  on Mondays

## Shopping list
1. buy milk
2) buy bread #urgent (tomorrow)
   - and butter
+ fixed (pinned)
"""

LISTED = [
    ("Ann likes tea", ["food"], "import"),
    ("Bob sings\non Mondays", ["notes"], "import"),
    ("buy milk", ["shopping-list"], "import"),
    ("buy bread #urgent (tomorrow)", ["shopping-list"], "import"),
    ("and butter", ["shopping-list"], "import"),
    ("fixed (pinned)", ["shopping-list"], "import"),
]
"""Content, tags and source of each memory of LIST."""

CASES = (
    ("- tea #a #b #c #d\n", [("tea", ["a", "b", "c"], ["d"])]),
    ("- one\n- two\n\n  behind a blank\n", [("one", ["imported"], []), ("two\nbehind a blank", ["imported"], [])]),
    ("- text\n\ttab\nplain\n", [("text\ntab\nplain", ["imported"], [])]),
    ("- a \\# b \\\\ \\x &#233; &#55296; &#; \\", [("a # b \\ \\x é &#55296; &#; \\", ["imported"], [])]),
    ("- first\n  \\\n  last\n", [("first\n\nlast", ["imported"], [])]),
    ("- cups\n  (keywords one\\, two, three; importance .5)\n", [("cups", ["imported"], ["one, two", "three"])]),
    ("- cups\n  (importance 1.2.3)\n", [("cups\n(importance 1.2.3)", ["imported"], [])]),
    ("# A heading that is far too long to be a tag of a memory\n- 猫 #café\n", [("猫", ["café"], [])]),
    ("-no item\n1 no item\n1.no item\n+ item\n", [("item", ["imported"], [])]),
    ("\ufeff- behind a mark of byte order\n", [("behind a mark of byte order", ["imported"], [])]),
)  # fmt: skip
"""Pages, and content, tags and keywords of their memories."""
