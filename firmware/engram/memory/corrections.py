"""Takes back what a turn had taught when the person corrects its words."""

from engram.compat import const
from engram.memory.recall import snippet

_LOOKED = const(200)  # newest memories among which those of the turn are: bounds the reads
_SHOWN = const(80)  # characters of a memory
_TOOK_BACK = const("took back %s: %s")
_STAYS = const("%s stays as it is, since it has come from more than that message: %s")


def take_back(records, ref: str, caller):
    """Yield a line for each memory that the turn `ref` had taught: it is forgotten, and what it replaced holds again."""
    found = []
    for looked, record in enumerate(records.newest(caller)):
        if looked == _LOOKED:
            break
        if ref in record.get("turns", ()):
            found.append(record)
    for record in found:
        if record["turns"] != [ref] or "was" in record:
            yield _STAYS % (record["id"], snippet(record["content"], _SHOWN))
            continue
        line = records.tombstone("forget", record, [])
        if "supersedes" in record:
            line.append(("restores", record["supersedes"]))
        records.entries.append(line, urgent=True)
        records.releases += 1
        records.renew_turns(record)
        yield _TOOK_BACK % (record["id"], snippet(record["content"], _SHOWN))
