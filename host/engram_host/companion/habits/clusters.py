"""Clusters of events and notes that say nearly the same on several days.

All vectors of one model have much in common, and more so those of one language or of dated notes. So each group's mean is
taken off before its lines are compared; what is left is what a line says that the others do not. docs/design/companion.md
has what was measured.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.store.vectors import Vector

LEAST_DAYS = 3
_NEAR = 0.4
_LEAST_LENGTH = 1e-6


@dataclass(frozen=True)
class Sighting:
    """A memory or a line of a note that says what happened on a day; `ref` is its id or citation."""

    ref: str
    day: int
    scope: str
    text: str = field(repr=False)

    @property
    def key(self) -> str:
        """Its name among those of all people, whose notes have the same citations."""
        return f"{self.ref} {self.scope}"

    @property
    def group(self) -> tuple[str, bool, bool]:
        """The lines whose vectors have most in common: of one scope, kind and script."""
        return self.scope, "#" in self.ref, any("\u3040" <= sign < "\ue000" for sign in self.text)


def count_days(lines: Sequence[Sighting]) -> int:
    return len({line.day for line in lines})


def find_clusters(lines: Sequence[Sighting], vectors: Vector) -> Iterator[list[Sighting]]:
    """Yield the lines of each cluster of LEAST_DAYS days or more; a scope's largest cluster first."""
    groups: dict[tuple[str, bool, bool], list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        groups[line.group].append(place)
    scopes: dict[str, list[int]] = defaultdict(list)
    centred = np.empty_like(vectors)
    for group, places in groups.items():
        centred[places] = _centred(vectors[places])
        scopes[group[0]] += places
    for places in scopes.values():
        near = _near(centred[places])
        # A cluster is a line with those near it, so that none grows from neighbour to neighbour.
        while near.any() and (counts := near.sum(axis=1)).max() >= LEAST_DAYS:
            members = np.flatnonzero(near[counts.argmax()])
            found = sorted((lines[places[member]] for member in members), key=lambda line: line.day)
            near[members] = near[:, members] = False
            if count_days(found) >= LEAST_DAYS:
                yield found


def _centred(vectors: Vector) -> Vector:
    """Take off the mean in which lines that say the same count once: else one habit would move all others together."""
    weights = 1 / np.maximum(1, _near(vectors - vectors.mean(axis=0)).sum(axis=1))
    return vectors - np.average(vectors, axis=0, weights=weights).astype(np.float32)


def _near(centred: Vector) -> NDArray[np.bool_]:
    units = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), _LEAST_LENGTH)
    return units @ units.T >= _NEAR
