"""The tool memory_intent: standing intents as the model asks for them."""

from engram.agent.rule_actions import describe_reminder
from engram.errors import ArgumentError


def run(parts, arguments: dict, caller) -> tuple:
    """(the result, a line for the person or "") of a call; `parts` has intents and clock."""
    action = arguments["action"]
    if action == "add":
        return _add(parts, arguments, caller)
    if action == "list":
        return _list(parts, caller), ""
    if "id" not in arguments:
        raise ArgumentError("id", "is missing; action list shows the ids.")
    gone = parts.intents.remove(caller, arguments["id"])
    return {"removed": gone["id"], "when": gone["when"], "remind": gone["remind"]}, "no more reminder " + gone["id"]


def _add(parts, arguments: dict, caller) -> tuple:
    for name in ("when", "remind"):
        if name not in arguments:
            raise ArgumentError(name, "is missing; it must be a text.")
    fields = parts.intents.add(caller, arguments["when"], arguments["remind"], arguments.get("days", 0))
    return {"id": fields["id"], "expires": parts.clock.day(fields["expires"])}, describe_reminder(fields)


def _list(parts, caller) -> dict:
    found = []
    for fields in parts.intents.owned_by(caller):
        shown = {name: fields[name] for name in ("id", "when", "remind")}
        shown["expires"] = parts.clock.day(fields["expires"])
        if "last" in fields:
            shown["last"] = parts.clock.day(fields["last"])
        found.append(shown)
    return {"intents": found}
