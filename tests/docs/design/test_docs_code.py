"""Code on the board: every call is documented, and the examples are run."""

import asyncio
import doctest
import inspect as python_inspect

from engram import errors
from engram.app import App, Memory
from one_case import in_one_case
from pages import PAGES, fences, in_backticks, plain, read, rows, section

PAGE = "docs/reference/code-on-the-board.md"
_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
_DOCUMENTED_APART = {"note"}


def _signature(name: str, function) -> str:
    """A call as the page shows it: without self, without annotations."""
    parameters = [
        parameter.replace(annotation=python_inspect.Parameter.empty)
        for parameter in python_inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]
    shown = python_inspect.Signature(parameters)
    return f"{name}{shown}".replace("'", '"').replace(_OWNER, "OWNER")


_OWNER = 'Caller(principal="owner", room="console", group=False, workspace="")'


def _public(holder) -> list[str]:
    functions = python_inspect.getmembers(holder, python_inspect.isfunction)
    own = [(name, function) for name, function in functions if function.__module__ == holder.__module__]
    return sorted(_signature(name, function) for name, function in own if not name.startswith("_"))


def _calls(heading: str) -> list[str]:
    return sorted(plain(row[0]) for row in rows(section(read(PAGE), heading)))


def test_the_table_of_the_memorys_calls_is_the_codes():
    assert _calls("## app.memory") == _public(Memory)


def test_the_tables_of_the_apps_calls_are_the_codes():
    expected = [call for call in _public(App) if call.partition("(")[0] not in _DOCUMENTED_APART]
    assert _calls("## More of app") == expected
    assert "## app.note" in read(PAGE)


@in_one_case("page", PAGES)
def test_no_page_names_an_error_that_there_is_not(page):
    for code in in_backticks(read(page)):
        if code.endswith("Error") and code.isalpha():
            assert hasattr(errors, code), code


def test_the_examples_print_what_the_page_says(tmp_path):
    examples = [fence for fence in fences(read(PAGE), "python") if fence.text.startswith(">>>")]
    names = {"app": App(str(tmp_path)), "asyncio": asyncio}
    source = "\n".join(fence.text for fence in examples)
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=_OPTIONS)
    runner.run(doctest.DocTestParser().get_doctest(source, names, PAGE, PAGE, 0), out=failures.append)
    assert not failures, "".join(failures)
