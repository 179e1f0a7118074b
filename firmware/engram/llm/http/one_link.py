"""Lets one link be open at a time, on a chip whose memory has room for one over TLS."""


class OneLink:
    """What clients share who take turns: each asks before it connects, and closes its link when another one asks."""

    def __init__(self):
        self._holder = None

    async def take(self, client) -> None:
        """Close the other client's link, after the request under way."""
        while self._holder is not None and self._holder is not client:
            await self._holder.close()  # which leaves
        self._holder = client

    def leave(self, client) -> None:
        """The client has no link any more."""
        if self._holder is client:
            self._holder = None
