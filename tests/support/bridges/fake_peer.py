"""What a person with the app of a faked service sees: the fake knows it, and wakes who waits for it."""

from collections.abc import Sequence

from bridge_peers import Shown
from fake_service import FakeService


class FakePeer:
    """The seeing half of bridge_peers.Peer; seen(group) is the subclass's."""

    service: FakeService

    def seen(self, group: bool) -> list[Shown]:
        """What this account sees of others now, oldest first."""
        raise NotImplementedError

    def shown(self, *, group: bool = False) -> Sequence[Shown]:
        return self.seen(group)

    async def wait_for(self, text: str, *, group: bool = False, seconds: float = 60) -> Shown:
        def find() -> Shown | None:
            return next((shown for shown in reversed(self.seen(group)) if text in shown.text), None)

        try:
            found = await self.service.wait_until(find, seconds)
        except TimeoutError:
            found = None
        assert found is not None, f"no message with {text!r}: {self.seen(group)}"
        return found

    async def close(self) -> None:
        """An app has nothing to close here."""
