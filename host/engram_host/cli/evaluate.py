"""`engram eval`: does a search find what answers a question? The evaluator of the project's tools/, where that is."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, NotFound, NotInstalled, WrongUsage
from engram_host.cli.options import AsJson
from engram_host.firmware import CLONE

TOOLS = CLONE / "tools" if CLONE else None


def evaluate(
    sets: Annotated[Path, typer.Argument(help="a folder of folders with turns.jsonl and questions.jsonl")],
    engine: Annotated[
        str, typer.Option(help="board, companion, recipe, or one of the companion's variants")
    ] = "companion",
    out: Annotated[Path, typer.Option(help="where what was found goes, and figures.json")] = Path("build/eval"),
    as_json: AsJson = False,
) -> None:
    """Ask the questions of a set and count how many of the answers are found. Needs no companion, but Engram's own folder.

    Example: engram eval path/to/sets --engine companion-words --json
    """
    tools = _tools()
    if engine not in tools.ENGINES:
        raise WrongUsage(f"--engine takes one of {', '.join(sorted(tools.ENGINES))}.")
    if not sets.is_dir():
        raise NotFound(f"there is no folder {sets}: docs/design/retrieval.md says what a set is.")
    try:
        result = tools.evaluate(engine, sets, out)
    except tools.FAILURES as error:
        raise CommandError(str(error)) from None
    if as_json:
        output.document(result)
    else:
        tools.print_table(result)


def _tools() -> Any:
    """The evaluator; NotInstalled where only the package is."""
    if TOOLS is None or not (TOOLS / "eval_retrieval.py").is_file():
        raise NotInstalled("the evaluator is not in this installation: run `engram eval` from a clone of Engram.")
    if str(TOOLS) not in sys.path:
        sys.path.append(str(TOOLS))
    import eval_retrieval  # pyright: ignore[reportMissingImports]

    return eval_retrieval
