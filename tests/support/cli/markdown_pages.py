"""Pages of Markdown, and what is remembered of them."""

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
    ("buy bread #urgent (tomorrow): and butter", ["shopping-list"], "import"),
    ("fixed (pinned)", ["shopping-list"], "import"),
]
"""Content, tags and source of each memory of LIST."""

CASES = (
    ("- tea #a #b #c #d\n", [("tea", ["a", "b", "c"], ["d"])]),
    ("- one\n- two\n\n  behind a blank\n", [("one", ["imported"], []), ("two\nbehind a blank", ["imported"], [])]),
    ("- text\n\ttab\nplain\n", [("text\ntab\nplain", ["imported"], [])]),
    ("- a \\# b \\\\ \\x &#233; &#55296; &#; \\", [("a # b \\ \\x é &#55296; &#; \\", ["imported"], [])]),
    ("- first\n  \\\n  last\n", [("first\n\nlast", ["imported"], [])]),
    ("# A heading that is far too long to be a tag of a memory\n- 猫 #café\n", [("猫", ["café"], [])]),
    ("-no item\n1 no item\n1.no item\n+ item\n", [("item", ["imported"], [])]),
    ("- Ada\n  - birthday: 3 May\n", [("Ada: birthday: 3 May", ["imported"], [])]),
    ("1. Ada:\n   * tea\n\n   * red\n     and blue\n2. Bob\n", [
        ("Ada: tea", ["imported"], []), ("Ada: red\nand blue", ["imported"], []), ("Bob", ["imported"], []),
    ]),
    ("+ Ada #kin\n\t+ home：\n\t\t1) Lyon\n\t\t2) Bonn #past\n\t+ tea\n + Bob\n", [
        ("Ada: home: Lyon", ["kin"], []), ("Ada: home: Bonn", ["past"], []), ("Ada: tea", ["kin"], []),
        ("Bob", ["imported"], []),
    ]),
    ("- Ada\n# Bob\n  - tea\n- Cy\n\nmore\n  - red\n", [
        ("Ada", ["imported"], []), ("tea", ["bob"], []), ("Cy", ["bob"], []), ("red", ["bob"], []),
    ]),
    ("# Trip\n## 2026-03-14\n- one\n### Food\n- two\n## Rome\n- three\n", [
        ("one", ["trip"], []), ("two", ["food"], []), ("three", ["rome"], []),
    ]),
    ("\ufeff- behind a mark of byte order\n", [("behind a mark of byte order", ["imported"], [])]),
)  # fmt: skip
"""Pages, and content, tags and keywords of their memories."""

DAYS = (
    ("2026-03-14", "2026-03-14", "imported"), ("[[2026-03-14]]", "2026-03-14", "imported"),
    ("2026-03-14T10:00:00Z", "2026-03-14", "imported"), ("2026-03-14 - Trip to Rome", "2026-03-14", "trip-to-rome"),
    ("March 16, 2026", "2026-03-16", "imported"), ("Sep 3rd, 2024", "2024-09-03", "imported"),
    ("03/04/2026", "", "03/04/2026"), ("2026-02-30", "", "2026-02-30"), ("March 16", "", "march-16"),
)  # fmt: skip
"""Headings, the day that they give their items ("" for none) and the tag."""
