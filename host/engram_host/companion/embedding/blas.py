"""How many threads numpy's matrix products take.

numpy's OpenBLAS starts a thread for each core and lets them spin between two products. Here threads are the caller's: each
computes whole batches, which scales better and leaves the other cores to the rest of the companion.
"""

import ctypes
from pathlib import Path

import numpy as np

_SETTERS = ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads")


def limit_blas_threads() -> bool:
    """Let each matrix product run in the thread that asks for it; False if this numpy has another library than OpenBLAS,
    which then goes on as its own settings say.
    """
    for library in _libraries():
        for name in _SETTERS:
            setter = getattr(library, name, None)
            if setter is not None:
                setter(1)
                return True
    return False


def _libraries() -> list[ctypes.CDLL]:
    """The OpenBLAS that numpy's wheel brought, already loaded: opening it again gives the same one."""
    home = Path(np.__file__).parent
    folders = (home.parent / "numpy.libs", home / ".dylibs")
    return [ctypes.CDLL(str(path)) for folder in folders for path in sorted(folder.glob("*openblas*"))]
