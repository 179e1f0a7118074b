"""A tool of a person's own: what the model sees of it, who may use it, and what it runs."""

from engram import text
from engram.compat import const
from engram.errors import ArgumentError
from engram.memory.access import OWNER
from engram.schema_check import KINDS, check, rule_of
from engram.text.utf8 import is_printable_ascii
from engram.tools.pin_config import WHO

NAME_LONGEST = const(32)
_DESCRIPTION_LONGEST = const(300)  # characters: each request to the model has all of them
_SCHEMA_LONGEST = const(1000)
_TIMEOUT = const("100..120000")  # ms: a turn waits for the tool, and other turns wait for this one
_FIRST = const("abcdefghijklmnopqrstuvwxyz")
_LETTERS = const("abcdefghijklmnopqrstuvwxyz0123456789_")
_RULES = const(" type enum items minItems maxItems minimum maximum maxLength description anyOf ")
_SHORT_FORM = const('must be such as "0..100", "on|off", "string", "integer", "number" or "boolean", or a JSON Schema.')


class OwnTool:
    """A function that the model may call.

    run(**arguments), or run(caller, **arguments) if it `wants_caller`, is a function or a coroutine function. `who` may use it:
    "owner", "all", or a tuple of principals; in a group nobody unless `groups`. With `confirm` it runs only after a yes of the
    person in their next message.
    """

    def __init__(
        self,
        name,
        description,
        schema,
        run,
        who="owner",
        groups=False,
        confirm=False,
        timeout_ms=10_000,
        wants_caller=False,
    ):
        check_name("name", name)
        if not isinstance(description, str) or not 0 < len(description) <= _DESCRIPTION_LONGEST:
            problem = "must say in 1 to %d characters what the tool is for." % _DESCRIPTION_LONGEST
            raise ArgumentError("description", problem)
        if not callable(run):
            raise ArgumentError(name, "must be a function.")
        check("milliseconds", timeout_ms, _TIMEOUT)
        self.name = name
        self.description = description
        self.schema = schema_text(schema)
        self.run = run
        self.who = check_who(who)
        self.groups = bool(groups)
        self.confirm = bool(confirm)
        self.timeout_ms = timeout_ms
        self.wants_caller = wants_caller
        self.task = None
        """The task of a call that did not end in its time."""

    def for_caller(self, caller) -> "OwnTool | None":
        """What the model is offered for a caller: something with name, description and schema; None if they may not use it."""
        return self if may_use(caller, self.who, self.groups) else None

    def notice(self, _arguments: dict, _value) -> str:
        """The line for the person after a call, "" for none."""
        return "used " + self.name


def may_use(caller, who, groups: bool) -> bool:
    """Whether a caller is one of `who`, where they are."""
    if caller.group and not groups:
        return False
    return who == "all" or caller.principal == OWNER.principal if isinstance(who, str) else caller.principal in who


def check_who(who):
    """Return who may use something: "owner", "all", or a tuple of principals."""
    listed = list(who) if isinstance(who, tuple) else who
    check("who", listed, WHO)
    return tuple(listed) if isinstance(listed, list) else listed


def check_name(argument: str, name) -> None:
    """ArgumentError if a name is none that a model can call."""
    is_name = isinstance(name, str) and 0 < len(name) <= NAME_LONGEST and is_printable_ascii(name)
    if not is_name or name[0] not in _FIRST or not all(letter in _LETTERS for letter in name):
        problem = "must be at most %d of a to z, 0 to 9 and _, and begin with a letter." % NAME_LONGEST
        raise ArgumentError(argument, problem)


def schema_text(schema) -> str:
    """The arguments' JSON Schema as text; from a schema, its text, or the short form {"brightness": "0..100"}."""
    if isinstance(schema, str):
        try:
            schema = text.loads(schema)
        except ValueError:
            raise ArgumentError("schema", "is not valid JSON.") from None
    if not isinstance(schema, dict) or not all(isinstance(name, str) for name in schema):
        raise ArgumentError("schema", 'must be a dict such as {"brightness": "0..100"}, {} if there are no arguments.')
    if isinstance(schema.get("properties"), dict):
        rules, required = schema["properties"], schema.get("required", [])
    else:
        rules = {name.rstrip("?"): _rule(name, short) for name, short in schema.items()}
        required = [name for name in schema if name[-1:] != "?"]
    for name, rule in rules.items():
        check_name("schema", name)
        _check_rule(name, rule)
    if not isinstance(required, list) or not all(name in rules for name in required):
        raise ArgumentError("schema", "required must be a list of names in properties.")
    properties = ",".join(['"%s":%s' % (name, text.dumps(rules[name])) for name in sorted(rules)])
    found = '{"type":"object","properties":{%s},"required":%s,"additionalProperties":false}'
    found = found % (properties, text.dumps(sorted(required)))
    if len(found) > _SCHEMA_LONGEST:
        raise ArgumentError("schema", "has %d characters as JSON, at most %d fit." % (len(found), _SCHEMA_LONGEST))
    return found


def _rule(name: str, short) -> dict:
    """Return the JSON Schema of one argument."""
    try:
        return rule_of(short)
    except ValueError:
        raise ArgumentError(name, _SHORT_FORM) from None


def _check_rule(name: str, rule) -> None:
    """ArgumentError if a rule is none that a call's arguments are checked by."""
    if not isinstance(rule, dict):
        raise ArgumentError(name, _SHORT_FORM)
    for key, value in rule.items():
        if " %s " % key not in _RULES:
            problem = "has the rule %s, which is not checked here; there are%s" % (key, _RULES.rstrip())
            raise ArgumentError(name, problem)
        if key[:3] in ("min", "max"):
            check(name, value, "number")
    if isinstance(rule.get("anyOf"), list):
        for other in rule["anyOf"]:
            _check_rule(name, other)
        return
    kind = rule.get("type")
    if kind not in KINDS or kind == "object":
        raise ArgumentError(name, _SHORT_FORM)
    check(name, rule.get("enum", []), {"type": "array", "items": {"type": "string"}})
    if kind == "array":
        _check_rule(name, rule.get("items"))
