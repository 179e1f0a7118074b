"""Fields of a bridge, from --set, from lines of a pipe, or from questions on a terminal."""

import getpass
import sys
from collections.abc import Iterable, Sequence

from engram_host.cli.exit_status import WrongUsage
from engram_host.cli.output import printable_line
from engram_host.companion.bridges.kinds import BridgeField, NetworkKind

_MOST_LINES = 64


def collect_values(kind: NetworkKind, given: Sequence[str]) -> dict[str, str]:
    """Return the fields' values; asks for missing ones on a terminal. Raises WrongUsage."""
    fields = {field.name: field for field in kind.fields}
    values = _parsed(kind, given, fields)
    for name in values:
        if fields[name].is_secret:
            problem = f"--set {name} would show a secret to all users of this computer: pipe a line {name}=... into the command"
            raise WrongUsage(f"{problem}, or let it ask.")
    is_asked = sys.stdin.isatty()
    if not is_asked:
        lines = [line.rstrip("\r\n") for line in sys.stdin.readlines(_MOST_LINES * 4096)]
        values = _parsed(kind, [line for line in lines if line.strip()], fields) | values
    for field in kind.fields:
        if is_asked and field.name not in values:
            values[field.name] = _ask(field)
        if not values.get(field.name) and not field.default and not field.is_optional:
            how = f"a line {field.name}=... on its stdin" if field.is_secret else f"--set {field.name}=..."
            raise WrongUsage(f"{kind.title} needs {field.name} ({field.question}): give {how}.")
    return {name: value for name, value in values.items() if value}


def _parsed(kind: NetworkKind, given: Iterable[str], fields: dict[str, BridgeField]) -> dict[str, str]:
    values: dict[str, str] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign or name not in fields:
            raise WrongUsage(f"{kind.title} has the fields {', '.join(fields)}, each given as FIELD=VALUE.")
        values[name] = value.strip() if not fields[name].is_secret else value
    return values


def _ask(field: BridgeField) -> str:
    hint = f" [{field.default}]" if field.default else " (empty: none)" if field.is_optional else ""
    question = printable_line(f"{field.question}{hint}: ")
    while True:
        answer = getpass.getpass(question) if field.is_secret else input(question).strip()
        if answer or field.default or field.is_optional:
            return answer or field.default
