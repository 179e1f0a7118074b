"""`python -m engram_host.fake_telegram`: the server as a command, with a chat in the terminal.

Its first two lines of output are the address and the token; it ends with its input, on Ctrl-C and on SIGTERM.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from engram_host.fake_server.server import port_number

from .command import serve
from .server import TOKEN


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the result is the exit status."""
    options = _parser().parse_args(arguments)
    try:
        asyncio.run(_run(options))
    except (OSError, ValueError) as error:
        print(f"the server cannot start: {error}", file=sys.stderr)
        return 1
    return 0


async def _run(options: argparse.Namespace) -> None:
    serving = asyncio.ensure_future(
        serve(
            port=options.port,
            token=options.token,
            certificate=options.certificate,
            key=options.key,
            persons=options.person or ("Ann",),
            has_limits=not options.no_limits,
            has_chat=not options.no_chat,
        )
    )
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    try:
        await serving
    except asyncio.CancelledError:
        return


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m engram_host.fake_telegram",
        description="A strict fake of Telegram's Bot API, and a terminal in which people chat with its bot.",
    )
    parser.add_argument("--port", type=port_number, default=0, help="on loopback; default: 0, a free one")
    parser.add_argument("--token", default=TOKEN, help="the bot's token; default: one of the fake's own")
    parser.add_argument("--person", action="append", metavar="NAME", help="who chats; repeatable; default: Ann")
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="serve TLS with this certificate")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the certificate's key")
    parser.add_argument("--no-limits", action="store_true", help="take any number of messages a second")
    parser.add_argument("--no-chat", action="store_true", help="serve only, until a signal ends it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
