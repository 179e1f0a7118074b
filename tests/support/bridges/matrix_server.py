"""Synapse, a Matrix server, for tests: one process on SQLite, which talks to nobody but its clients."""

import base64
import hashlib
import hmac
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

import get_environment
from matrix_peer import MatrixPeer
from peers import free_port
from server_process import PLAIN, ServerProcess

SECRET = "for registrations"
PASSWORD = "Tea-at-4"
NO_LIMIT = {"per_second": 100_000, "burst_count": 100_000}


class MatrixServer(ServerProcess):
    """Implements bridge_peers.Server, without limits."""

    name = "synapse"

    def __init__(self) -> None:
        super().__init__()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._group = ""
        self._in_group: set[str] = set()
        self._rooms: dict[str, str] = {}
        self._home = Path(tempfile.mkdtemp(prefix="engram-synapse-"))
        self._config = self._home / "homeserver.json"
        self._tokens: dict[str, str] = {}
        (self._home / "log.json").write_text(json.dumps(_LOG))
        (self._home / "key").write_text(f"ed25519 a_test {base64.b64encode(os.urandom(32)).decode().rstrip('=')}\n")
        self._config.write_text(json.dumps(self._configuration()))

    def _configuration(self) -> dict[str, Any]:
        # JSON is YAML.
        return {
            "server_name": "engram.test",
            "listeners": [
                {
                    "port": self.port,
                    "type": "http",
                    "bind_addresses": ["127.0.0.1"],
                    "resources": [{"names": ["client"], "compress": False}],
                }
            ],
            "database": {"name": "sqlite3", "args": {"database": str(self._home / "homeserver.db")}},
            "media_store_path": str(self._home / "media"),
            "signing_key_path": str(self._home / "key"),
            "log_config": str(self._home / "log.json"),
            "registration_shared_secret": SECRET,
            "report_stats": False,
            "trusted_key_servers": [],
            "federation_domain_whitelist": [],
            "bcrypt_rounds": 4,
            "presence": {"enabled": False},
            # Else the same first look gives for two minutes what it gave before.
            "caches": {"sync_response_cache_duration": "0s"},
            **_no_limits(),
        }

    def command(self) -> tuple[list[str], dict[str, str]]:
        words = [get_environment.python("synapse"), "-m", "synapse.app.homeserver"]
        return [*words, "--config-path", str(self._config)], {}

    def is_ready(self) -> bool:
        try:
            return self.request("GET", "/health").status_code == 200
        except httpx.TransportError:
            return False

    def start(self) -> "MatrixServer":
        super().start()
        self.register("kitchen")
        return self

    def stop(self) -> int:
        self.kill()
        shutil.rmtree(self._home)
        self._output.close()
        return 0

    @property
    def settings(self) -> Mapping[str, str]:
        return {"server": self.url, "account": "@kitchen:engram.test", "password": PASSWORD, "token": ""}

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """A request of nobody's, or of whose token is in its headers."""
        with httpx.Client(base_url=self.url, verify=PLAIN, trust_env=False, timeout=60) as client:
            return client.request(method, path, **options)

    def register(self, name: str) -> str:
        """The access token of an account, which is made if it is not there."""
        if name not in self._tokens:
            nonce = self.request("GET", "/_synapse/admin/v1/register").json()["nonce"]
            words = "\0".join((nonce, name, PASSWORD, "notadmin")).encode()
            proof = hmac.new(SECRET.encode(), words, hashlib.sha1).hexdigest()
            body = {"nonce": nonce, "username": name, "displayname": name.title(), "password": PASSWORD}
            body |= {"admin": False, "mac": proof}
            answer = self.request("POST", "/_synapse/admin/v1/register", json=body)
            answer.raise_for_status()
            self._tokens[name] = answer.json()["access_token"]
        return self._tokens[name]

    async def peer(self, name: str) -> MatrixPeer:
        room, group = self._room_of(name), self._group_with(name)
        peer = MatrixPeer(self.url, f"@{name}:engram.test", self.register(name), room, group)
        await peer.begin()
        return peer

    def _room_of(self, name: str) -> str:
        """The private chat of a person with the bridge's account, which is made if it is not there."""
        if name not in self._rooms:
            body = {"preset": "trusted_private_chat", "is_direct": True, "invite": [self.settings["account"]]}
            self._rooms[name] = self._as(name, "/createRoom", **body).raise_for_status().json()["room_id"]
        return self._rooms[name]

    def _group_with(self, name: str) -> str:
        """The group that all are in: its maker, the bridge's account, and each person."""
        if not self._group:
            body = {"preset": "private_chat", "name": "Home", "invite": [self.settings["account"]]}
            self._group = self._as("maker", "/createRoom", **body).raise_for_status().json()["room_id"]
        if name not in self._in_group:
            self._as("maker", f"/rooms/{self._group}/invite", user_id=f"@{name}:engram.test").raise_for_status()
            self._as(name, f"/join/{self._group}").raise_for_status()
            self._in_group.add(name)
        return self._group

    def _as(self, who: str, path: str, /, **body: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.register(who)}"}
        return self.request("POST", f"/_matrix/client/v3{path}", json=body, headers=headers)


def _no_limits() -> dict[str, Any]:
    names = ("message", "registration", "room_creation", "joins_per_room")
    found: dict[str, Any] = {f"rc_{name}": NO_LIMIT for name in names}
    found |= {"rc_login": dict.fromkeys(("address", "account", "failed_attempts"), NO_LIMIT)}
    found |= {"rc_joins": dict.fromkeys(("local", "remote"), NO_LIMIT)}
    return found | {"rc_invites": dict.fromkeys(("per_room", "per_user", "per_issuer"), NO_LIMIT)}


_LOG = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"level": "WARNING", "handlers": ["console"]},
}
