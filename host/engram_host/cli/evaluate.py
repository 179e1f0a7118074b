"""`engram eval`: does a search find what answers a question?"""

from pathlib import Path
from typing import Annotated

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, NotFound, NotInstalled, WrongUsage
from engram_host.cli.options import JSON, Context, takes


@takes(JSON)
def evaluate(
    context: Context,
    sets: Annotated[Path, typer.Argument(help="folder of sets, each a folder with turns.jsonl and questions.jsonl")],
    engine: Annotated[
        str, typer.Option(help="what searches: board, companion, recipe, or a variant such as companion-words")
    ] = "companion",
    out: Annotated[Path, typer.Option(help="output folder for the results and figures.json")] = Path("build/eval"),
    foreign: Annotated[
        int, typer.Option(min=0, help="questions of the other conversations to ask each one: is the confidence lower?")
    ] = 0,
) -> None:
    """Measure how many answers the search finds, on sets of questions. Needs no companion.

    Example: engram eval path/to/sets --engine companion-words --json
    """
    from engram_host.evaluation import run
    from engram_host.evaluation.engines import NoBoardEngine

    if engine not in run.ENGINES:
        raise WrongUsage(f"--engine takes one of {', '.join(sorted(run.ENGINES))}.")
    if not sets.is_dir():
        raise NotFound(f"there is no folder {sets}: docs/design/retrieval.md says what a set is.")
    try:
        result = run.evaluate(engine, sets, out, foreign=foreign)
    except NoBoardEngine as error:
        raise NotInstalled(str(error)) from None
    except run.FAILURES as error:
        raise CommandError(str(error)) from None
    if context.json:
        output.print_json(result)
    else:
        run.print_table(result)
