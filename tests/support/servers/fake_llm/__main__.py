"""`python -m fake_llm`: the scripted server as a command.

Its first line of output is `listening on http://127.0.0.1:PORT`; it ends on Ctrl-C and on SIGTERM.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from fake_server.server import port_number

from .rules import ScriptRule
from .script import ScriptError, load
from .server import ScriptedServer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the result is the exit status."""
    options = _parser().parse_args(arguments)
    try:
        asyncio.run(_serve(load(options.script), options.port, options.record))
    except ScriptError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"the server cannot start: {error}", file=sys.stderr)
        return 1
    return 0


async def _serve(rules: list[ScriptRule], port: int, record: Path | None) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with ScriptedServer(rules, port=port, record=record) as server:
        print(f"listening on {server.url}", flush=True)
        await ended.wait()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fake_llm",
        description="Play a script in place of a remote LLM, for clients of OpenAI's and Anthropic's APIs.",
    )
    parser.add_argument("--script", default="demo.json", metavar="FILE", help="default: the demo")
    parser.add_argument("--port", type=port_number, default=0, help="on loopback; default: 0, a free one")
    parser.add_argument("--record", type=Path, metavar="FILE", help="gets each request, keys included")
    return parser


if __name__ == "__main__":
    sys.exit(main())
