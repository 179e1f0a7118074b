"""The companion's own sentences: each is translated for the page, also after it was kept in a file or a database."""

import ast
import copy
import string
from pathlib import Path

import engram_host.companion
from engram_host.companion.errors import CompanionError, UnknownEntry
from engram_host.companion.page.catalog import load_catalogs
from engram_host.sentences import PLURAL, Sentence, SentenceTable, english, pack, unpack
from one_case import in_one_case

SENTENCES = [(SentenceTable(topic), kind) for topic, kinds in english().items() for kind in kinds]
COMPANION = Path(engram_host.companion.__file__).parent


def said(table: SentenceTable, kind: str, number: int = 2) -> Sentence:
    """A sentence of a kind, with a value of its own for each placeholder."""
    text = english()[table.topic][kind]
    texts = text if isinstance(text, str) else "".join(text.values())
    names = {name for _, name, _, _ in string.Formatter().parse(texts) if name}
    return table.say(kind, **{name: number if name == PLURAL else f"the {name} of it" for name in names})


@in_one_case("table, kind", SENTENCES)
def test_each_kind_is_in_both_catalogs(table: SentenceTable, kind: str):
    sentence = said(table, kind)
    assert load_catalogs()["en"].say(sentence) == str(sentence)
    chinese = load_catalogs()["zh"].say(sentence)
    assert chinese != str(sentence)
    assert all(str(value) in chinese for value in sentence.values.values()), chinese


@in_one_case("number", [1, 2])
@in_one_case("table, kind", SENTENCES)
def test_a_sentence_that_was_kept_has_its_kind_and_values(table: SentenceTable, kind: str, number: int):
    sentence = said(table, kind, number)
    found = unpack(pack(sentence))
    assert isinstance(found, Sentence)
    assert (found, found.key, found.values) == (sentence, sentence.key, dict(sentence.values))


def test_text_that_is_none_of_the_companions_sentences_stays_as_it_is():
    text = "the tea is in the blue tin."
    assert load_catalogs()["zh"].say(unpack(pack(text))) == text


def test_a_value_that_is_a_sentence_is_translated_with_the_sentence_around_it():
    table = SentenceTable("check_result")
    inner = said(SentenceTable("board_warning"), "no_model")
    assert load_catalogs()["zh"].say(inner) in load_catalogs()["zh"].say(table.say("look_again", problem=inner))


def test_an_error_says_a_sentence_that_is_translated():
    problem: CompanionError = UnknownEntry("m12", board="kitchen")
    assert str(problem) == "m12 is not in the copy of kitchen, or was forgotten."
    chinese = load_catalogs()["zh"].say(problem.sentence)
    assert chinese != str(problem) and "m12" in chinese and "kitchen" in chinese


def test_a_copied_sentence_keeps_its_kind_and_values():
    sentence = said(SentenceTable("board_warning"), "flash")
    made = copy.deepcopy(sentence)
    assert (made, made.key, made.values) == (sentence, sentence.key, sentence.values)


def test_what_says_sentences_does_not_know_the_page():
    """The page translates: what lies below it must not import it."""
    for path in COMPANION.rglob("*.py"):
        layer = path.relative_to(COMPANION).parts[0]
        if layer in ("page", "api", "app.py", "serving.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.startswith("engram_host.companion.page") for name in names), path
