"""Gives a board its networks and its key: secrets.json, which is written whole and never shown."""

import getpass
import json
import sys
from typing import Any

from engram_host.boards import profile
from engram_host.boards.backup import SECRETS
from engram_host.boards.errors import BadRequest, BoardFailed
from engram_host.boards.progress import Progress
from engram_host.boards.session import open_session

MOST_NETWORKS = 8


def wifi(named_port: str, progress: Progress) -> None:
    """Ask for a network and a key, and add them to what the board has."""
    network = _ask("Network (empty: as it is): ")
    password = _ask("Password (empty: an open network): ", hidden=True) if network else ""
    key = _ask("Key of the LLM service (empty: as it is): ", hidden=True)
    if not network and not key:
        progress.say("Nothing to change.")
        return
    profile.check_settings(SECRETS, with_secrets({}, network, password, key))
    progress.step("Stopping the board")
    with open_session(named_port) as session:
        present = session.list_tree("", deep=False)
        old = session.get_file(SECRETS) if SECRETS in present else b"{}"
        content = with_secrets(_parsed(old), network, password, key)
        profile.check_settings(SECRETS, content)
        progress.step("Writing")
        session.replace(SECRETS, content)
    changed = " and ".join(what for what, is_new in ((f"the network {network}", network), ("the key", key)) if is_new)
    progress.say(f"The board now has {changed}, and restarts.")


def with_secrets(old: dict[str, Any], network: str, password: str, key: str) -> bytes:
    """secrets.json with a network, first of the list, and a key; what is empty stays as it was."""
    new = dict(old)
    if network:
        first = {"ssid": network, "password": password} if password else {"ssid": network}
        others = [one for one in new.get("wifi", []) if one.get("ssid") != network]
        if len(others) >= MOST_NETWORKS:
            raise BadRequest(
                f"the board knows {MOST_NETWORKS} other networks, the most it may: take one out of its secrets.json first."
            )
        new["wifi"] = [first, *others]
    if key:
        new["llm"] = {**new.get("llm", {}), "key": key}
    return (json.dumps(new, ensure_ascii=False) + "\n").encode()


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        values = json.loads(content)
        if (
            isinstance(values, dict)
            and isinstance(values.get("wifi", []), list)
            and isinstance(values.get("llm", {}), dict)
        ):
            return values
    except ValueError:
        pass
    raise BoardFailed("secrets.json on the board is damaged: remove it there (os.remove at the prompt) and try again.")


def _ask(question: str, *, hidden: bool = False) -> str:
    """An answer from the terminal, or the next line of a pipe."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    return (getpass.getpass(question) if hidden else input(question)).rstrip("\n")
