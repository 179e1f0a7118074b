"""The texts of the page: all languages have the same ones, and each that a template or a view names is there."""

import re
import string
from importlib import resources
from pathlib import Path

from engram.memory.records.fields import SOURCES
from engram_host.companion.board_settings import SECTIONS, all_settings
from engram_host.companion.page.catalog import NAMES, choose_language, load_catalogs
from engram_host.sentences import english
from one_case import in_one_case

PAGE = Path(str(resources.files("engram_host.companion.page")))
CATALOGS = load_catalogs()
KEYS = CATALOGS["en"].keys()
OWN = {key for key in KEYS if key.partition(".")[0] not in english()}
"""The page's own texts, which its templates and views name."""


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_each_language_has_the_same_texts():
    keys = {name: set(texts.keys()) for name, texts in CATALOGS.items()}
    assert set(keys) == set(NAMES) and all(each == keys["en"] for each in keys.values()), keys


def test_each_language_has_the_same_placeholders():
    for key in KEYS:
        found = {name: placeholders(texts.template(key)) for name, texts in CATALOGS.items()}
        assert len({frozenset(each) for each in found.values()}) == 1, (key, found)


def test_no_text_is_empty_or_left_in_english():
    for key in KEYS:
        texts = {name: catalog.template(key) for name, catalog in CATALOGS.items()}
        assert all(texts.values()), key
        if key not in ("layout.api", "health.advice"):
            assert re.search("[\u4e00-\u9fff]", texts["zh"]), (key, texts["zh"])


def used() -> set[str]:
    """The keys that stand as texts in templates and views, those that end with a dot as beginnings."""
    found: set[str] = set()
    for path in [*PAGE.rglob("*.html"), *PAGE.rglob("*.py")]:
        text = path.read_text()
        found |= set(re.findall(r"""\bt(?:exts)?(?:\.count)?\(\s*['"]([a-z_.]+)['"]""", text))
        found |= set(re.findall(r"""['"]((?:signin)\.(?!html)[a-z_]+)['"]""", text))
    return found


def test_each_text_that_is_named_is_there():
    keys = set(KEYS)
    for key in used():
        is_there = (
            key in keys or f"{key}.one" in keys or any(each.startswith(key) for each in keys if key.endswith("."))
        )
        assert is_there, key


def test_what_the_firmware_names_has_a_text():
    """A new setting, or a new source of memories, must not take a view away."""
    wanted = {f"memory_source.{source}" for source in SOURCES} | {f"setting.{name}" for name in all_settings()}
    wanted |= {f"section.{section}" for section in SECTIONS}
    assert wanted - set(KEYS) == set()


def test_each_text_is_named_somewhere():
    named = used()
    whole = "".join(path.read_text() for path in [*PAGE.rglob("*.html"), *PAGE.rglob("*.py")])
    for key in OWN:
        base = re.sub(r"\.(one|other)$", "", key)
        is_named = base in named or base in whole or any(base.startswith(each) for each in named if each.endswith("."))
        assert is_named, key


@in_one_case(
    "asked, kept, accepted, chosen",
    [
        ("zh", "en", "en", "zh"),
        ("xx", "zh", "en", "zh"),
        ("", "xx", "fr, zh-CN;q=0.9, en;q=0.8", "zh"),
        ("", "", "fr, en;q=0.8, zh;q=0.2", "en"),
        ("", "", "zh;q=x, fr", "en"),
        ("", "", "", "en"),
        ("", "", "," * 5000, "en"),
    ],
)
def test_the_language_is_the_one_asked_for_then_the_one_kept_then_the_browsers(
    asked: str, kept: str, accepted: str, chosen: str
):
    assert choose_language(asked, kept, accepted) == chosen
