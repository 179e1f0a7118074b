"""Checks of the installation: Python, packages, the model, MicroPython."""

import sys
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from engram_host.companion.diagnosis.findings import Finding, watch, well, wrong
from engram_host.extras import EXTRAS, install_command, missing_packages

if TYPE_CHECKING:  # it brings numpy, and without the companion's packages the other checks are done all the same
    from engram_host.companion.settings import Settings

OLDEST = (3, 11)

_REMOTE = ("openai", "gemini")
_OTHERS = ("auto", *_REMOTE)


def python() -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info[:2] < OLDEST:
        return wrong("python", version, "install Python 3.11 or newer, and Engram with it.")
    return well("python", version)


ALWAYS = ("companion", "board")


def packages(needed: Collection[str]) -> Iterator[Finding]:
    """Yield findings on packages; `needed` are the extras beside ALWAYS."""
    for extra, packages in EXTRAS.items():
        if extra not in ALWAYS and extra not in needed:
            continue
        missing = missing_packages(extra)
        what = f"packages: {extra}"
        if not missing:
            yield well(what, f"{len(packages)} packages are installed")
        elif extra == "board":
            yield watch(what, f"not installed: {', '.join(missing)}", f"for `engram board`: {install_command(extra)}")
        else:
            yield wrong(what, f"not installed: {', '.join(missing)}", install_command(extra))


def embedder(settings: "Settings") -> Finding:
    provider = settings.embedding.provider
    name = "embedder"
    is_missing = False
    if provider == "none":
        return watch(name, "none: searches use words only", 'set embedding.provider to "auto" to search by meaning.')
    try:
        from engram_host.companion.embedding.local_model import is_installed
        from engram_host.companion.embedding.local_models import LOCAL, local_models

        model = local_models(LOCAL if provider in _OTHERS else provider)[0]
        is_missing = provider == "auto" and not is_installed(model)
        model.check(model.folder())
    except ImportError as missing:
        return wrong(name, f"the package {missing.name} is not installed", install_command("companion"))
    except Exception as problem:  # noqa: BLE001 - whatever is wrong with the model is what is looked for
        detail = str(problem)
        what = "the local model cannot be used"
        if is_missing:
            return watch(name, "without the optional local model searches use words only", detail)
        if provider not in _REMOTE:
            return wrong(name, what, detail)
        return watch(name, f"{provider}; {what} in its place", detail)
    missing = missing_packages("onnx")
    if missing:
        return wrong(name, f"the local model {model.name} needs {', '.join(missing)}", install_command("onnx"))
    return well(name, f"{provider}, and the local model {model.name} is complete")


def micropython() -> Finding:
    from engram_host.simulator import board

    try:
        return well("micropython", f"{board.find_micropython()}")
    except board.NoMicroPython as problem:
        return watch("micropython", "only `engram run` and --sim need it, and it is not there", str(problem))
