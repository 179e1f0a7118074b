"""Lines of a board's records, made by chance."""

import random
from typing import Any

NOW = 1_795_000_000
DAY = 86400


def record(chance: random.Random, seq: int) -> dict[str, Any]:
    """A line of the records: a memory, a version of one, or something that is done to some."""
    others = [f"m{chance.randint(1, max(1, seq - 1))}" for _ in range(2)]
    fields: dict[str, Any] = {"id": f"m{seq}", "content": chance.choice(["the red cup", "a blue plan", "red tea"])}
    fields |= {"created": NOW - chance.randint(0, 5 * DAY)}
    fields["tags"] = chance.sample(["tea", "cup", "plan"], chance.randint(0, 3))
    fields["importance"] = chance.choice([0.2, 0.5, 0.9])
    more = [{"type": "event"}, {"source": "import"}, {"keywords": ["Ada B"]}, {"pinned": True}, {"scope": "user:ann"}]
    for each in chance.sample(more, 2):
        fields |= each
    kind = chance.randint(0, 9)
    if kind == 0:
        return {"op": chance.choice(["forget", "leave"]), "id": others[0], "at": NOW}
    if kind == 1:
        return {"op": "archive", "id": others[0], "at": NOW, "was": 1}
    if kind == 2:
        return {"op": "forget", "id": others[0], "at": NOW, "restores": others[1]}
    if kind == 3:
        return fields | {"supersedes": others[0]}
    if kind == 4:
        return fields | {"id": others[0]}
    if kind == 5:
        return fields | {"expires": NOW + chance.choice([-1, 1])}
    return fields
