"""`engram run`: chat with a simulated board, as `make run` does."""

from pathlib import Path
from typing import Annotated

import typer

from engram_host.cli.exit_status import NotInstalled


def run(
    home: Annotated[Path, typer.Option(envvar="ENGRAM_HOME", help="folder of the board's files")] = Path(
        "~/.engram/sim"
    ),
    script: Annotated[bool, typer.Option("--script", help="use the scripted LLM: a demo without a key")] = False,
    companion: Annotated[bool, typer.Option("--companion", help="also start a companion")] = False,
    prompt: Annotated[bool, typer.Option("--repl", help="open the MicroPython prompt on Ctrl-C")] = False,
) -> None:
    """Chat with a simulated board in the terminal or over a pipe. Needs MicroPython's unix port, but no companion.

    Example: engram run --script

    Example: echo "remember that my bike is green" | engram run --home ~/.engram/try
    """
    from engram_host.simulator import __main__ as simulator
    from engram_host.simulator import board

    try:
        board.find_micropython()
    except board.NoMicroPython as problem:
        raise NotInstalled(str(problem)) from None
    given = simulator.read_environment()
    options = simulator.SimulatorOptions(
        home=home.expanduser().absolute(),
        llm="script" if script else given.llm,
        companion=companion or given.companion,
        prompt=prompt or given.prompt,
    )
    raise typer.Exit(simulator.run_board(options))
