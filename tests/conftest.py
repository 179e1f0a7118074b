"""Unit files run on three Pythons, and some as on a chip: each test of tests/unit is shown once for each.

cpython   CPython, in a process of its own, on the host's file system
64        MicroPython's unix port, 64-bit, from source, on the host's file system
32        the 32-bit build with the chip's object sizes, from .mpy, a heap of 512 KB, on a littlefs
chip      the same with the chip's ways of time, floats, os and sys (tests/unit/fakes/chip.py): where these matter
"""

import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

import firmware_build
import get_micropython

ROOT = Path(__file__).resolve().parent.parent
UNIT = ROOT / "tests" / "unit"
DATA = ROOT / "tests" / "data"
SIM = ROOT / "boards" / "SIM"
HEAP = "512k"
RUNTIMES = ("cpython", "64", "32")
AS_ON_A_CHIP = (
    "test_clock",
    "test_config",
    "test_chip_socket",
    "test_journal",
    "test_link_http",
    "test_link_mqtt",
    "test_llm_http",
    "test_llm_transport",
    "test_llm_model",
    "test_memory_fields",
    "test_memory_recall",
    "test_memory_records",
    "test_log_line",
)
"""How the names of the files begin that run as on a chip, too."""

IN_FULL = (
    "test_agent_prefix",
    "test_dedup",
    "test_transfer",
    "test_reminders",
    "test_isolation",
    "test_link_archive",
)
"""How the names of the files begin that try less in `make test` than they could: in `make soak` they try all."""

SECONDS = 120
SECONDS_IN_FULL = 1800
"""How long one unit file may take on one runtime."""

# A rename waits for the disk, and a run has thousands of them.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where unit files keep their files: in RAM where the host has a folder for that."""


def pytest_configure(config):
    """Compile the firmware once, before workers start; keep what CPython compiles."""
    # A thousand processes are started: without this each compiles all that it imports, most of what a short one takes.
    os.environ.update(PYTHONPYCACHEPREFIX=str(ROOT / "build" / "pycache"), PYTHONDONTWRITEBYTECODE="")
    if not hasattr(config, "workerinput"):
        firmware_build.compile_all()
        firmware_build.compile_small()


def pytest_report_header():
    """Name the MicroPythons under test."""
    lines = []
    for bits in ("64", "32"):
        found = get_micropython.probe(get_micropython.HOME / bits)
        version = ".".join(str(number) for number in found[0]) if found else "none: its tests are skipped"
        lines.append(f"MicroPython {version}, {bits}-bit" + (f", -X heapsize={HEAP}" if bits == "32" else ""))
    return lines


def pytest_pycollect_makemodule(module_path, parent):
    """Take each unit file for all runtimes in place of importing it here."""
    return UnitFile.from_parent(parent, path=module_path) if module_path.parent == UNIT else None


def pytest_xdist_make_scheduler(config, log):
    """Hand the tests to the workers so that no unit file is run by both."""
    return Scheduling(config, log)


class Scheduling(LoadScopeScheduling):
    """Gives a unit file's tests of one runtime to one worker, and all other tests one by one.

    Not by marks for --dist loadgroup: with xdist 3.8 and pytest 9.2 these are silently ignored.
    """

    def _split_scope(self, nodeid: str) -> str:
        path, _, test = nodeid.partition("::")
        return path + test[test.rindex("[") :] if path.startswith("tests/unit/") else nodeid


class UnitFile(pytest.File):
    """One unit file, once for each runtime."""

    def collect(self):
        """One item for each test and runtime."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        names = [node.name for node in tree.body if isinstance(node, kinds) and node.name.startswith("test_")]
        for runtime in RUNTIMES + (("chip",) if self.path.stem.startswith(AS_ON_A_CHIP) else ()):
            results = UnitRun(self.path.stem, runtime)
            for name in sorted(names):
                yield UnitItem.from_parent(self, name=f"{name}[{runtime}]", test=name, results=results)
        for runtime in RUNTIMES if self.path.stem.startswith(IN_FULL) else ():
            results = UnitRun(self.path.stem, runtime, in_full=True)
            for name in sorted(names):
                item = UnitItem.from_parent(self, name=f"{name}[{runtime}-full]", test=name, results=results)
                item.add_marker(pytest.mark.soak)
                yield item


class UnitRun:
    """What one process, that ran one file on one runtime, printed of each test."""

    def __init__(self, module: str, runtime: str, in_full: bool = False):
        self.module = module
        self.runtime = runtime
        self.in_full = in_full
        self.printed: dict[str, tuple[bool, str]] | None = None
        self.output = ""

    def of(self, test: str) -> tuple[bool, str]:
        """Whether `test` passed, and what was printed when it did not."""
        if self.printed is None:
            self.printed = self._run()
        return self.printed.get(test, (False, "the run ended before this test:\n" + self.output[-3000:]))

    def _run(self) -> dict[str, tuple[bool, str]]:
        command, environment, storage = _how(self.runtime)
        extent = ["full"] if self.in_full else []
        with tempfile.TemporaryDirectory(prefix="engram-unit-", dir=MEMORY) as folder:
            done = subprocess.run(
                [*command, self.module, folder, storage, *extent],
                capture_output=True,
                timeout=SECONDS_IN_FULL if self.in_full else SECONDS,
                env={**os.environ, **environment, "ENGRAM_TEST_DATA": str(DATA)},
                cwd=folder,
            )
        self.output = (done.stdout + done.stderr).decode("utf-8", "replace")
        printed: dict[str, tuple[bool, str]] = {}
        name = ""
        for line in self.output.splitlines(keepends=True):
            word, _, rest = line.rstrip("\n").partition(" ")
            if word in ("PASS", "FAIL"):
                name = rest
                printed[name] = (word == "PASS", "")
            elif name and word != "END":
                printed[name] = (printed[name][0], printed[name][1] + line)
        return printed


def _how(runtime: str) -> tuple[list[str], dict[str, str], str]:
    """Command, environment and storage of a runtime."""
    source = [ROOT / "firmware", UNIT, SIM]
    if runtime == "cpython":
        return [sys.executable, str(UNIT / "runner.py")], {"PYTHONPATH": _path(source)}, "host"
    bits = "32" if runtime == "chip" else runtime
    micropython = get_micropython.HOME / bits
    if not get_micropython.usable(micropython, int(bits)):
        pytest.skip(f"there is no {bits}-bit MicroPython for this machine")
    if runtime == "64":
        path = _path([*source, Path(".frozen")])
        return [str(micropython), "-X", "heapsize=4m", str(UNIT / "runner.py")], {"MICROPYPATH": path}, "host"
    compiled = [firmware_build.FIRMWARE, firmware_build.UNIT, firmware_build.SIM, Path(".frozen")]
    command = [str(micropython), "-X", f"heapsize={HEAP}", "-m", "runner"]
    return command, {"MICROPYPATH": _path(compiled)}, "chip" if runtime == "chip" else "littlefs"


def _path(folders: list[Path]) -> str:
    return ":".join(str(folder) for folder in folders)


class UnitItem(pytest.Item):
    """One test of a unit file on one runtime."""

    def __init__(self, *, test: str, results: UnitRun, **rest):
        super().__init__(**rest)
        self.test = test
        self.results = results

    def runtest(self):
        """Take the test's result from its file's run."""
        passed, output = self.results.of(self.test)
        if not passed:
            raise AssertionError(output)

    def repr_failure(self, excinfo, style=None):
        """Show what the runtime printed, or what stopped the run."""
        return str(excinfo.value)

    def reportinfo(self):
        """Where the test stands."""
        return self.path, None, self.name
