"""What of a person's is on a board, so that nobody loses it by a command."""

from collections.abc import Callable, Mapping

_LOGS = {"memory/memory_records": "memories", "journal/journal": "a journal"}

_HEADER_BYTES = 4096
"""No header of a log's live segment is longer: in a longer file there are lines behind it."""


def find_user_data(sizes: Mapping[str, int], content: Callable[[str], bytes]) -> list[str]:
    """What files of these sizes by path hold, in words; nothing if all is as a board has it that was only started."""
    found = [what for log, what in _LOGS.items() if _has_lines(log, sizes, content)]
    if any(path.startswith("memory/") and path.endswith(".md") for path in sizes):
        found.append("notes")
    templates = _templates()
    profile = [path for path in sizes if path.startswith("profile/") and path.endswith(".md")]
    if any(path not in templates or content(path) != templates[path] for path in profile):
        found.append("a profile that was written to")
    if "secrets.json" in sizes:
        found.append("networks or keys")
    return found


def _has_lines(log: str, sizes: Mapping[str, int], content: Callable[[str], bytes]) -> bool:
    live = f"{log}.jsonl"
    if any(path.startswith(f"{log}.") and path.endswith((".jsonl", ".bad")) for path in sizes if path != live):
        return True
    size = sizes.get(live, 0)
    return size > _HEADER_BYTES or (size > 0 and content(live).count(b"\n") > 1)


def _templates() -> dict[str, bytes]:
    from engram.memory.texts.profile import TEMPLATES

    return {f"profile/{name}": text.encode() for name, text in TEMPLATES.items()}
