"""The tool memory_intent: standing intents as the model asks for them."""

from engram.agent.rule_actions import told_intent
from engram.errors import ArgumentError


def run(parts, arguments: dict, asker) -> tuple:
    """(the result, a line for the person or "") of a call; `parts` has intents and clock."""
    action = arguments["action"]
    if action == "add":
        return _add(parts, arguments, asker)
    if action == "list":
        return _list(parts, asker), ""
    if "id" not in arguments:
        raise ArgumentError("id", "is missing; action list shows the ids.")
    gone = parts.intents.remove(asker, arguments["id"])
    return {"removed": gone["id"], "when": gone["when"], "remind": gone["remind"]}, "no more reminder " + gone["id"]


def _add(parts, arguments: dict, asker) -> tuple:
    for name in ("when", "remind"):
        if name not in arguments:
            raise ArgumentError(name, "is missing; it must be a text.")
    fields = parts.intents.add(asker, arguments["when"], arguments["remind"], arguments.get("days", 0))
    return {"id": fields["id"], "expires": parts.clock.day(fields["expires"])}, told_intent(fields)


def _list(parts, asker) -> dict:
    found = []
    for fields in parts.intents.of(asker):
        shown = {name: fields[name] for name in ("id", "when", "remind")}
        shown["expires"] = parts.clock.day(fields["expires"])
        if "last" in fields:
            shown["last"] = parts.clock.day(fields["last"])
        found.append(shown)
    return {"intents": found}
