"""What takes long to make is made once for all workers."""

import fcntl
import os
import pickle
from collections.abc import Callable
from typing import TypeVar

import pytest

Made = TypeVar("Made")


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[], Made]) -> Made:
    """What `make` gives, which has to be picklable: the first worker to ask calls it, and the others wait for that."""
    own = factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    kept = folder / f"{name}.pickle"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            draft = folder / f"{name}.draft"
            draft.write_bytes(pickle.dumps(make()))
            draft.rename(kept)
    return pickle.loads(kept.read_bytes())
