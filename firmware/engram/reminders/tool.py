"""Reminders as the model asks for them, by the tool memory_intent."""

from engram.errors import ArgumentError


def run(reminders, clock, arguments: dict, caller) -> tuple:
    """(the result, a line for the person or "") of a call."""
    action = arguments["action"]
    if action == "add":
        return _add(reminders, clock, arguments, caller)
    if action == "list":
        return _list(reminders, clock, caller), ""
    if "id" not in arguments:
        raise ArgumentError("id", "is missing; action list shows the ids.")
    gone = reminders.remove(caller, arguments["id"])
    return {"removed": gone["id"], "when": gone["when"], "remind": gone["remind"]}, "no more reminder " + gone["id"]


def _add(reminders, clock, arguments: dict, caller) -> tuple:
    for name in ("when", "remind"):
        if name not in arguments:
            raise ArgumentError(name, "is missing; it must be a text.")
    fields = reminders.add(caller, arguments["when"], arguments["remind"], arguments.get("days", 0))
    return {"id": fields["id"], "expires": clock.day(fields["expires"])}, describe_reminder(fields)


def _list(reminders, clock, caller) -> dict:
    found = []
    for fields in reminders.owned_by(caller):
        shown = {name: fields[name] for name in ("id", "when", "remind")}
        shown["expires"] = clock.day(fields["expires"])
        if "last" in fields:
            shown["last"] = clock.day(fields["last"])
        found.append(shown)
    return {"intents": found}


def describe_reminder(fields: dict) -> str:
    """The notice to the person about a new reminder."""
    return "will remind (%s) when %s comes up: %s" % (fields["id"], fields["when"], fields["remind"])
