"""Numbers and lists as a person reads them."""


def counted(number: int, one: str, many: str) -> str:
    """A number of things for a person: `1 entry`, `2 entries`."""
    return f"{number} {one if number == 1 else many}"


def listed(things: list[str]) -> str:
    """Things as a person lists them: a, b and c."""
    return ", ".join(things[:-1]) + " and " + things[-1] if len(things) > 1 else "".join(things)


def kilobytes(size: int) -> str:
    """A number of bytes for a person."""
    return f"{size} bytes" if size < 1024 else f"{(size + 512) // 1024:,} KB"
