"""Words that depend on a number."""


def counted(number: int, one: str, many: str) -> str:
    """A number of things for a person: `1 entry`, `2 entries`."""
    return f"{number} {one if number == 1 else many}"
