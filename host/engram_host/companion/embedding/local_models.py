"""The models that run on this machine, by the names that settings give them, and which of them is taken."""

from collections.abc import Sequence
from pathlib import Path

from engram_host.companion.embedding.e5 import MultilingualE5
from engram_host.companion.embedding.embedder import Embedder
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.local_model import LocalModel, is_installed
from engram_host.companion.embedding.minilm import MiniLm

LOCAL = "local"
"""Means the best that is installed."""

_MODELS: dict[str, type[LocalModel]] = {"minilm": MiniLm, "e5": MultilingualE5}
"""Those with the better figures first (docs/design/retrieval.md)."""


def local_models(name: str) -> list[LocalModel]:
    """The model of that name; of "local" those that are installed, the better first, or the best if none is."""
    if name != LOCAL:
        return [_MODELS[name]()]
    every = [model() for model in _MODELS.values()]
    return [model for model in every if is_installed(model)] or every[:1]


def local_embedders(names: Sequence[str], threads: int, graphs: Path | None) -> list[Embedder]:
    """Return an embedder for each model that these names mean, none twice. `graphs` as in LocalEmbedder."""
    models = {model.name: model for name in names for model in local_models(name)}
    return [LocalEmbedder(model, threads, graphs) for model in models.values()]
