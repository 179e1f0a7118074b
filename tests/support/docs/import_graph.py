"""Which modules import each other, read from their sources: also inside functions, for types only, and by name."""

import ast
from collections.abc import Iterator
from functools import cache


@cache
def imports(source: str, package: str = "") -> tuple[str, ...]:
    """The names that a file imports; of one that calls __import__ all texts, of which some name modules.

    `package` is where the file is: the beginning of what it imports with dots.
    """
    return tuple(_imports(source, package))


def _imports(source: str, package: str) -> Iterator[str]:
    nodes = list(ast.walk(ast.parse(source)))
    names_modules = any(isinstance(node, ast.Name) and node.id == "__import__" for node in nodes)
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = parents[: len(parents) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif names_modules and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def graph(sources: dict[str, str]) -> dict[str, set[str]]:
    """Which modules each module imports; a package counts only where its own file is meant."""
    found: dict[str, set[str]] = {}
    for module, source in sources.items():
        is_package = any(other.startswith(module + ".") for other in sources)
        names = imports(source, module if is_package else module.rpartition(".")[0])
        targets = {name if name in sources else name.rpartition(".")[0] for name in names}
        found[module] = {name for name in targets if name in sources and name != module}
    return found


def cycles(imported: dict[str, set[str]]) -> set[frozenset[str]]:
    """The largest groups of modules of which each reaches each other."""
    reached: dict[str, set[str]] = {}
    for start in imported:
        todo, seen = [start], set[str]()
        while todo:
            for target in imported[todo.pop()] - seen:
                seen.add(target)
                todo.append(target)
        reached[start] = seen
    return {
        frozenset(other for other in imported if other in reached[module] and module in reached[other])
        for module in imported
        if module in reached[module]
    }
