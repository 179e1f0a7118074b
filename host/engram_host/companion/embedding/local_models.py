"""Local models by their names in settings, and the choice among them."""

from collections.abc import Sequence
from pathlib import Path

from engram_host.companion.embedding.e5 import MultilingualE5
from engram_host.companion.embedding.embedder import Embedder
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.local_model import LocalModel, is_installed
from engram_host.companion.embedding.minilm import MiniLm

LOCAL = "local"

_MODELS: dict[str, type[LocalModel]] = {"minilm": MiniLm, "e5": MultilingualE5}
"""Models, the more accurate ones first (docs/design/retrieval.md)."""


def local_models(name: str) -> list[LocalModel]:
    """Return the named models; of "local" the installed ones, best first, or the best."""
    if name != LOCAL:
        return [_MODELS[name]()]
    every = [model() for model in _MODELS.values()]
    return [model for model in every if is_installed(model)] or every[:1]


def local_embedders(names: Sequence[str], threads: int, graphs: Path | None) -> list[Embedder]:
    """Return an embedder for each named model, without repeats."""
    models = {model.name: model for name in names for model in local_models(name)}
    return [LocalEmbedder(model, threads, graphs) for model in models.values()]
