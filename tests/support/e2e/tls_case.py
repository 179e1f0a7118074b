"""One HTTPS request, on any runtime: `tls_case.py URL ROOTS` prints the status and the length of the answer's
body, or the error's name and text. ROOTS is a file of root certificates.
"""

import asyncio
import sys

from engram.errors import NetError
from engram.net.http import Client
from engram.net.transport import tls_context


async def _fetch(url: str, roots: bytes) -> None:
    client = Client(url, tls=tls_context(roots))
    answer = await client.ask("POST", "/", (), lambda: (b"x" * 700 for _ in range(5)))
    length = 0
    while not answer.ended:
        length += len(await answer.read())
    client.release(answer)
    _tell(answer.status, length)


def _tell(what, more) -> None:
    sys.stdout.write(str(what) + " " + str(more) + "\n")


def main(url: str, path: str) -> None:
    """Fetch `url` under the roots in the file at `path`."""
    with open(path, "rb") as file:
        roots = file.read()
    try:
        asyncio.run(_fetch(url, roots))
    except NetError as error:
        _tell(type(error).__name__, error)


main(*sys.argv[1:])
