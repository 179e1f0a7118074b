#!/usr/bin/env python3
"""Measures what bridges cost a companion: memory, and CPU while nobody speaks.

    bench_bridges.py [xmpp] [irc] [matrix] [telegram] [discord] [slack]        all by default

The companion is a process of its own, without bridges and with all of them connected: to prosody, ngircd and Synapse, and to
the fakes of the others' APIs. Nobody says anything. Prints a table; build/bench/bridges.json has the same. Status 1 if the
bridges take more than the bound.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[3] / name) for name in ("host", "firmware", "tools/setup", "tools/build")
)
sys.path.extend(str(Path(__file__).resolve().parents[3] / name) for name in ("tools/benchmarks", "tests/support"))
sys.path.extend(
    str(Path(__file__).resolve().parents[1] / name)
    for name in ("cli", "companion", "fake_telegram", "firmware", "servers")
)

import psutil

from bridged_companion import settings_of, write_bridges
from chat_networks import NETWORKS
from peers import free_port
from server_process import CompanionProcess, ServerFailed

ROOT = Path(__file__).resolve().parents[3]
OUT = ROOT / "build" / "bench" / "bridges.json"

MOST_MB = 150.0
"""Of memory that all bridges may take together."""

SECONDS = 60
SETTLE_SECONDS = 10.0
"""After the last bridge is connected: what a start leaves to do is done by then."""

CONNECT_SECONDS = 60.0
_PAUSE = 0.1

KEYS = ("rss_mb", "cpu_seconds", "cpu_percent")
Figures = dict[str, float]


def measure(folder: Path, networks: Sequence[str], seconds: int) -> Figures:
    """Memory of a companion with bridges to these networks, and the CPU that it takes in so many seconds; ServerFailed."""
    with ExitStack() as stack:
        servers = {name: NETWORKS[name].make() for name in networks}
        for server in servers.values():
            stack.callback(server.stop)
            server.start()
        home = folder / "companion"
        write_bridges(home, settings_of(servers))
        companion = stack.enter_context(CompanionProcess(home, free_port()))
        wait_for_bridges(companion)
        time.sleep(SETTLE_SECONDS)
        process = psutil.Process(companion.pid)
        before = sum(process.cpu_times()[:2])
        time.sleep(seconds)
        used = sum(process.cpu_times()[:2]) - before
        rss = process.memory_info().rss / 1e6
    return {"rss_mb": rss, "cpu_seconds": used, "cpu_percent": 100 * used / seconds}


def wait_for_bridges(companion: CompanionProcess) -> None:
    """Wait until all bridges are connected; ServerFailed."""
    end = time.monotonic() + CONNECT_SECONDS
    while True:
        states = {each["name"]: each["state"] for each in companion.client.get("/v1/health").json()["bridges"]}
        if set(states.values()) <= {"connected"}:
            return
        if time.monotonic() > end:
            raise ServerFailed(f"not all bridges connect: {states}\n{companion.printed()}")
        time.sleep(_PAUSE)


def main(arguments: list[str]) -> int:
    """Measure, print a table, and keep the figures; status 1 with a sentence where a server does not start."""
    parser = argparse.ArgumentParser(
        description="Measure what bridges cost a companion: memory, and CPU while nobody speaks. It takes some minutes."
    )
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"{', '.join(NETWORKS)}; all by default")
    parser.add_argument("--seconds", type=int, default=SECONDS, help=f"how long to measure CPU; default {SECONDS}")
    given = parser.parse_args(arguments)
    networks = given.networks or [name for name, network in NETWORKS.items() if network.is_usable()]
    for name in networks:
        if name not in NETWORKS:
            parser.error(f"there is no network {name}: name some of {', '.join(NETWORKS)}")
        if not NETWORKS[name].is_usable():
            parser.error(f"there is no server of {name} for this machine; `make test` fetches it")
    results: dict[str, Figures] = {}
    try:
        for label, some in (("without", []), ("with", networks)):
            with tempfile.TemporaryDirectory(prefix="engram-bench-") as folder:
                results[label] = {
                    key: round(value, 2) for key, value in measure(Path(folder), some, given.seconds).items()
                }
            print(f"{label} bridges: done", file=sys.stderr, flush=True)
    except ServerFailed as problem:
        print(f"bench_bridges: {problem}", file=sys.stderr)
        return 1
    more = {key: round(results["with"][key] - results["without"][key], 2) for key in KEYS}
    results["more"] = more
    print(f"bridges: {', '.join(networks)}")
    print(f"{'':14}" + "".join(f"{name:>12}" for name in results))
    for key in KEYS:
        print(f"{key:14}" + "".join(f"{figures[key]:>12}" for figures in results.values()))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(results, indent=1) + "\n", encoding="ascii")
    if more["rss_mb"] > MOST_MB:
        print(f"bench_bridges: the bridges take more than {MOST_MB:.0f} MB.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
