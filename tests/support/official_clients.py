"""The official clients of both APIs, loaded when a test first uses one: loading takes seconds, and most workers need none.

At the top of a test file their classes may stand in quotes only.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import anthropic
    import openai
else:
    from importlib import import_module

    class _Lazy:
        """A package that loads when one of its public names is first used; pytest asks all that it finds for private ones."""

        def __init__(self, package: str):
            self._package = package

        def __getattr__(self, name: str):
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(import_module(self._package), name)

    anthropic, openai = _Lazy("anthropic"), _Lazy("openai")

__all__ = ["anthropic", "openai"]
