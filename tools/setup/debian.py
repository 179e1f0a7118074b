"""Take packages of any Debian release apart under build/, with the machine's own apt and mirror.

Packages in debian.lock are taken by their hashes; for the others apt is asked, which checks signatures and hashes.
Nothing on the system changes: apt gets its own lists, cache and an empty status file, so it works for an ordinary user
too. A package that was fetched once is kept.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import debian_pool

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
RELEASE_FILE = Path("/etc/os-release")
INSTALL = ("install", "--yes", "--no-install-recommends")


class Unavailable(Exception):
    """This machine cannot take a package from Debian; the message says why and what to do."""


def is_debian() -> bool:
    """Whether this machine is a Debian with apt."""
    return _release().get("ID") == "debian" and shutil.which("apt-get") is not None


def native_architecture() -> str:
    """The machine's own Debian architecture, for example "amd64"."""
    return subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()


def unpack(*packages: str, version: str | None, suite: str | None, architecture: str, state: Path, root: Path) -> None:
    """Fetch `packages`, all in that version, with all that they depend on, and unpack them below `root`.

    `suite` None is the machine's own release, `version` None what it has. `state` keeps apt's lists and the fetched packages.
    Raises Unavailable with apt's own words when a package cannot be had.
    """
    state = state / architecture
    wanted = [f"{package}={version}" if version else package for package in packages]
    archives = _from_lock(wanted, suite or _codename(), state / "archives", architecture)
    archives = archives or _from_apt(wanted, suite, state, architecture)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for archive in archives:
        subprocess.run(["dpkg-deb", "-x", str(archive), str(root)], check=True)


def lock_lines(wanted: str, suite: str, state: Path, architecture: str) -> list[str]:
    """The lines of debian.lock for what `wanted` ("package=version") needs now, itself included, as apt finds it.

    Raises Unavailable as unpack() does.
    """
    state = state / architecture
    options = _emptied(state, suite, architecture)
    addresses = _apt(options, *INSTALL, "--print-uris", wanted)  # it names none for what it has
    _apt(options, *INSTALL, "--download-only", wanted)
    lines = []
    for line in addresses.splitlines():
        if line.startswith("'"):
            address, name = line.split()[:2]
            path = unquote(address.strip("'")).removeprefix(_mirror().rstrip("/") + "/")
            content = (state / "archives" / name).read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            lines.append(f"{wanted} {suite} {architecture} {path} {len(content)} {digest}")
    return lines


def _from_lock(wanted: list[str], suite: str, folder: Path, architecture: str) -> list[Path]:
    """The archives of all that debian.lock names for `wanted`; none where it does not know one or the mirror lost it."""
    packages = []
    for name in wanted:
        locked = debian_pool.locked(name, suite, architecture)
        if not locked:
            return []
        packages += locked
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return sorted({debian_pool.download(package, _mirror(), folder) for package in packages})
    except debian_pool.Missing as problem:
        print(f"debian: {problem} Asking apt ...", file=sys.stderr, flush=True)
        return []


def _from_apt(wanted: list[str], suite: str | None, state: Path, architecture: str) -> list[Path]:
    """The archives of `wanted` and of all that they depend on, fetched by apt."""
    _apt(_emptied(state, suite, architecture), *INSTALL, "--download-only", *wanted)
    return sorted((state / "archives").glob("*.deb"))


def _emptied(state: Path, suite: str | None, architecture: str) -> list[str]:
    """As _prepared(), for packages, with none fetched yet."""
    options = _prepared(state, suite, architecture)
    for old in (state / "archives").glob("*.deb"):
        old.unlink()
    return options


def _prepared(state: Path, suite: str | None, architecture: str) -> list[str]:
    """apt's options for a state of its own below `state`, its lists up to date."""
    for folder in ("lists/partial", "archives/partial", "etc"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    trust = f"signed-by={KEYRING}" if KEYRING.exists() else ""
    source = f"deb [arch={architecture} {trust}] {_mirror()} {suite or _codename()} main\n"
    (state / "sources.list").write_text(source)
    options = _options(state, architecture)
    _apt(options, "update")
    return options


def _release() -> dict[str, str]:
    if not RELEASE_FILE.exists():
        return {}
    pairs = (line.split("=", 1) for line in RELEASE_FILE.read_text().splitlines() if "=" in line)
    return {key: value.strip('"') for key, value in pairs}


def _codename() -> str:
    return _release().get("VERSION_CODENAME") or "sid"


def _mirror() -> str:
    """The address of the mirror that this machine's apt is set up with."""
    listing = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(SITE)", "Created-By: Packages"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    suites = {_codename(), "stable", "testing", "unstable", "sid"}
    for line in listing.splitlines():
        release, component, site = line.split(" ", 2)
        if release in suites and component == "main":
            return site
    raise Unavailable("apt has no Debian mirror set up: see /etc/apt/sources.list.d, then run this again.")


def _options(state: Path, architecture: str) -> list[str]:
    settings = {
        "Dir::Etc::sourcelist": state / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": state / "lists",
        "Dir::State::status": state / "status",
        "Dir::Cache": state,
        "Dir::Cache::archives": state / "archives",
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": _user_name(),
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Debug::NoLocking": "1",
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def _user_name() -> str:
    # Root's apt drops to a user of its own, who may not be allowed into this folder.
    return "root" if os.getuid() == 0 else ""


def _apt(options: list[str], *command: str) -> str:
    """Run apt-get, and return what it printed; Unavailable with its own words when it fails."""
    done = subprocess.run(["apt-get", "-q", *options, *command], capture_output=True, text=True)
    if done.returncode:
        problems = [line for line in (done.stderr or done.stdout).splitlines() if line.startswith(("E:", "W:"))]
        raise Unavailable("apt-get " + command[0] + " failed: " + " ".join(problems[:4]))
    return done.stdout
