"""The figures of `make heap` as tables for people: a column for each build."""

from collections.abc import Iterable

from heap_bench import CASES, CHIP_KILOBYTES, NAMES, REST_SECONDS, Figures
from heap_uses import USES, UseFigures

_TITLE, _FIGURE = 36, 9


def tables(builds: dict[str, Figures]) -> str:
    """All tables; `builds` are the figures by the build's name."""
    all_figures = list(builds.values())

    def head(title: str) -> str:
        return _head(title, builds)

    lines = []
    for is_at_start, title in ((True, "bytes of modules loaded at start"), (False, "of those loaded when needed")):
        names = _modules(all_figures[0], is_at_start)
        lines.append(head(title))
        lines += [_row(name, (figures.modules[name] for figures in all_figures)) for name in names]
        lines.append(_row("together", (sum(figures.modules[name] for name in names) for figures in all_figures)))
    lines.append(head("bytes of each step of the start"))
    lines += [_row(name, (figures.opening[name] for figures in all_figures)) for name in all_figures[0].opening]
    lines.append(_row("together", (sum(figures.opening.values()) for figures in all_figures)))
    for title, kind in (
        ("smallest heap, KB", "smallest_heap"),
        ("bytes in use afterwards", "in_use"),
        ("bytes above the start at the peak", "peak"),
    ):
        lines.append(head(title))
        lines += [_row(case.name, (getattr(figures, kind)[case.name] for figures in all_figures)) for case in CASES]
    for title, kind in (("right after", "after_tools"), (f"{REST_SECONDS} s after", "at_rest")):
        lines.append(head(f"bytes in {CHIP_KILOBYTES} KB, {title} the tools"))
        for name in ("used", "free", "largest_block"):
            lines.append(_row(name, ((getattr(figures, kind) or {}).get(name) for figures in all_figures)))
    return "\n".join(lines).lstrip()


def use_tables(builds: dict[str, UseFigures], packages: dict[str, int]) -> str:
    """What hands and senses take where they are used, and the bytes of their packages."""
    lines = []
    for title, kind in (
        ("bytes in use after the start with", "at_start"),
        ("bytes in use after a turn with", "in_use"),
        ("smallest heap of a turn, KB, with", "smallest_heap"),
    ):
        lines.append(_head(title, builds))
        names = [use.case.name for use in USES]
        lines += [_row(name, (getattr(figures, kind)[name] for figures in builds.values())) for name in names]
    lines.append(f"\n{'bytes of .mpy':{_TITLE}}")
    lines += [_row(name, (size,)) for name, size in packages.items()]
    return "\n".join(lines).lstrip()


def _head(title: str, builds: Iterable[str]) -> str:
    return f"\n{title:{_TITLE}}" + "".join(f"{name:>{_FIGURE}}" for name in builds)


def _modules(figures: Figures, is_at_start: bool) -> list[str]:
    at_start = {NAMES, *figures.at_start}
    names = [name for name in figures.modules if (name in at_start) == is_at_start]
    return sorted(names, key=lambda name: -figures.modules[name])


def _row(name: str, values: Iterable[int | None]) -> str:
    return f"{name:{_TITLE}}" + "".join(f"{'-' if value is None else value:>{_FIGURE}}" for value in values)
