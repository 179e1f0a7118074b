"""Leases of a worker that is alone."""

from engram_host.companion.workers.leases import Work


class HeldLease:
    """A lease that nobody else wants."""

    def __init__(self, name: str = "", fence: int = 0):
        self.name = name
        self.fence = fence
        self.is_held = True

    async def run(self, work: Work) -> None:
        await work()

    def release(self) -> None:
        pass
