"""Sets a board's networks, model and bot: config.json, and secrets.json, which is never shown."""

import getpass
import json
import sys
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from engram_host.boards import profile, terminal
from engram_host.boards.backup import SECRETS, SETTINGS
from engram_host.boards.errors import BadRequest
from engram_host.boards.progress import Progress
from engram_host.boards.session import open_session
from engram_host.services import LlmService, all_services, own_address
from engram_host.time_zones import computer_zone
from engram_host.wording import listed

_ANTHROPIC = "api.anthropic.com"
_UTC = "+00:00"


@dataclass(frozen=True)
class SetupAnswers:
    """A person's answers; empty ones change nothing."""

    network: str = ""
    password: str = ""
    url: str = ""
    model: str = ""
    key: str = ""
    token: str = ""

    def __bool__(self) -> bool:
        return bool(self.network or self.url or self.model or self.key or self.token)

    @property
    def changed(self) -> list[str]:
        named = (
            (f"the network {self.network}", self.network),
            (f"the model {self.model}", self.model),
            (f"the service {self.url}", self.url),
            ("the key", self.key),
            ("the bot's token", self.token),
        )
        return [words for words, is_new in named if is_new]


def setup(named_port: str, progress: Progress) -> None:
    """Ask for a network, a model with its key, and a bot's token, and add them to the board's
    settings."""
    answers = _asked()
    if not answers:
        progress.say("Nothing to change.")
        return
    profile.check_settings(SECRETS, with_secrets({}, answers))
    profile.check_settings(SETTINGS, with_settings({}, answers))
    with open_session(named_port, progress) as session:
        present = session.list_tree("", deep=False)
        there = {name: session.get_file(name) if name in present else b"{}" for name in (SECRETS, SETTINGS)}
        for name, content in there.items():
            profile.check_settings(name, content)
        old = {name: json.loads(content) for name, content in there.items()}
        url = profile.parse_settings(there[SETTINGS].decode(), SETTINGS).get("llm.url", "")
        moves = bool(answers.url) and urlsplit(answers.url)[:2] != urlsplit(url)[:2]
        secrets = with_secrets(old[SECRETS], answers, moves=moves)
        settings = with_settings(old[SETTINGS], answers, computer_zone(), moves=moves)
        for name, content in ((SECRETS, secrets), (SETTINGS, settings)):
            profile.check_settings(name, content)
            if json.loads(content) != old[name]:
                progress.step("Writing")
                session.replace(name, content)
    progress.say(f"The board now has {listed(answers.changed)}, and restarts.")
    if moves and not answers.key and old[SECRETS].get("llm", {}).get("key"):
        progress.say("The key of the service before was removed. Run this again to give one to the new service.")
    has_model = answers.url or answers.model or answers.key
    if has_model and sys.stdin.isatty() and _ask("Test the model now? (y/n): ").strip().lower() == "y":
        terminal.run_command(named_port, "/model test")


def _asked() -> SetupAnswers:
    network = _ask("Network (empty: as it is): ")
    password = _ask("Password (empty: an open network): ", hidden=True) if network else ""
    service = _ask_service()
    return SetupAnswers(
        network,
        password,
        service.url,
        model=_ask(f"Model (empty: {service.model or 'as it is'}): ") or service.model,
        key=_ask("Key of the LLM service (empty: as it is): ", hidden=True) if service.needs_key else "",
        token=_ask("Token of a Telegram bot (empty: as it is): ", hidden=True),
    )


def _ask_service() -> LlmService:
    """Return a service of the table, or one that has only the typed URL."""
    services = {each.name.lower(): each for each in all_services()}
    if sys.stdin.isatty():
        sys.stderr.write(f"LLM services: {listed([each.name for each in services.values()])}\n")
    said = _ask("LLM service, by its name or URL (empty: as it is): ").strip()
    service = services.get(said.lower())
    if service is None:
        if said and "://" not in said:
            raise BadRequest(f"there is no service {said[:40]} in the table: give its URL.")
        return LlmService("", "", said, needs_key=True, model="", note="")
    sys.stderr.write(f"{service.name}: {service.note}.\n")
    here = own_address() if service.is_own else ""
    computer = _ask(f"Address of the computer that runs it (empty: {here}): ").strip() if service.is_own else ""
    return replace(service, url=service.url_at(computer or here))


def with_secrets(old: dict[str, Any], answers: SetupAnswers, *, moves: bool = False) -> bytes:
    """Return secrets.json with the answers; a new network comes first, empty answers change
    nothing. If they name another service, the old key goes, so that no other one gets it."""
    new = dict(old)
    if answers.network:
        first = {"ssid": answers.network}
        if answers.password:
            first["password"] = answers.password
        others = [one for one in new.get("wifi", []) if one.get("ssid") != answers.network]
        new["wifi"] = [first, *others]
    if moves:
        _remove(new, "llm", "key")
    if answers.key:
        new["llm"] = {**new.get("llm", {}), "key": answers.key}
    if answers.token:
        new["telegram"] = {**new.get("telegram", {}), "token": answers.token}
    return (json.dumps(new, ensure_ascii=False) + "\n").encode()


def with_settings(old: dict[str, Any], answers: SetupAnswers, zone: str = "", *, moves: bool = False) -> bytes:
    """Return config.json with the answers, and `zone` if it names none; empty answers change
    nothing. If they name another service, the model for learning goes."""
    new = dict(old)
    if moves:
        _remove(new, "extract", "model")
    if zone not in ("", _UTC):
        new.setdefault("timezone", zone)
    model = {}
    if answers.url:
        model = {"url": answers.url, "api": "anthropic" if _ANTHROPIC in answers.url else "openai"}
    if answers.model:
        model["model"] = answers.model
    if model:
        for name in model:
            new.pop(f"llm.{name}", None)
        new["llm"] = {**new.get("llm", {}), **model}
    return (json.dumps(new, ensure_ascii=False) + "\n").encode()


def _remove(settings: dict[str, Any], group: str, name: str) -> None:
    """Remove a setting, which is in its group or has a dotted name."""
    settings.pop(f"{group}.{name}", None)
    if name in settings.get(group, {}):
        settings[group] = {key: value for key, value in settings[group].items() if key != name}


def _ask(question: str, *, hidden: bool = False) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    return (getpass.getpass(question) if hidden else input(question)).rstrip("\n")
