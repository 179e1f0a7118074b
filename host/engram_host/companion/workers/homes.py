"""Home workers: searches of one board go to one worker of a machine, so that its index is in one memory and not in all.

The home of a board is the first of its workers in an order that is drawn from both names (rendezvous hashing): when a worker
comes or goes, only its own boards move. A worker that gives no answer is passed over for a second, and whoever asked searches
by himself: a home saves memory, and is never needed for an answer.
"""

import hashlib
import time

from engram_host.companion.workers.peers import Answer, Peers, PeerUnavailable

AWAY_SECONDS = 1.0
"""How long a worker that gave no answer is not asked again."""


class HomeWorkers:
    """The homes of boards among the workers of this machine."""

    def __init__(self, peers: Peers | None):
        """`peers` are None for a worker that is alone: it is the home of all boards."""
        self._peers = peers
        self._away_until: dict[int, float] = {}

    def on(self, kind: str, answer: Answer) -> None:
        """Answer questions of a kind as the home of boards; b"" says that whoever asks has to do it."""
        if self._peers:
            self._peers.on(kind, answer)

    def order(self, device: str) -> list[int]:
        """The numbers of all workers, the home of a board first."""
        return sorted(self._peers.numbers, key=lambda number: _score(number, device)) if self._peers else []

    def is_home(self, device: str) -> bool:
        """Whether this worker is the home of a board, as long as all workers run."""
        return self._peers is None or self.order(device)[0] == self._peers.number

    async def ask(self, device: str, kind: str, body: bytes, seconds: float) -> bytes | None:
        """What the home of a board answers within some seconds; None if it is to be done here."""
        now = time.monotonic()
        there = [number for number in self.order(device) if self._away_until.get(number, 0.0) <= now]
        if self._peers is None or not there or there[0] == self._peers.number:
            return None
        try:
            return await self._peers.ask(there[0], kind, body, seconds) or None
        except PeerUnavailable:
            self._away_until[there[0]] = time.monotonic() + AWAY_SECONDS
            return None


def _score(number: int, device: str) -> bytes:
    return hashlib.blake2b(f"{number} {device}".encode(), digest_size=8).digest()
