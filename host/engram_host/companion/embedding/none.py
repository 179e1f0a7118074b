"""No embedder: searches go by words only."""

from collections.abc import Sequence

from engram_host.companion.embedding.base import Kind
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.types import Vector


class NoEmbedder:
    """Refuses all, and says why."""

    def __init__(self, why: str = "embedding is switched off (embedding.provider is none)."):
        self._why = why

    @property
    def model(self) -> str:
        """There is none."""
        return ""

    @property
    def dimensions(self) -> int:
        """There are none."""
        return 0

    @property
    def reason(self) -> str:
        """Why there is none."""
        return self._why

    async def ready(self) -> None:
        """EmbedderRefused, always."""
        raise EmbedderRefused(self._why)

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        """EmbedderRefused, always."""
        raise EmbedderRefused(self._why)

    async def close(self) -> None:
        """Nothing is open."""
