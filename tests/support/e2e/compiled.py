"""The launcher with what takes most of a short run done beforehand: the firmware is compiled, and the computer's root
certificates are looked for once.

    compiled.py PATH ROOTS      where modules are imported from, and the file in which the certificates are kept
"""

import functools
import os
import shutil
import sys
from pathlib import Path


def main(path: str, kept: str) -> int:
    """The launcher; its status."""
    from engram_host.simulator import __main__, board

    board.SEARCH_PATH = path
    __main__._provide_roots = functools.partial(_provide_roots, Path(kept))
    return __main__.main()


def _provide_roots(kept: Path, path: Path) -> None:
    if path.exists():
        return
    if not kept.exists():
        from engram_host import root_certificates

        draft = kept.with_name(f"{kept.name}.{os.getpid()}")
        draft.write_text(root_certificates.root_bundle(), encoding="ascii")
        draft.rename(kept)
    shutil.copyfile(kept, path)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
