"""Unit files run on MicroPython: each test of tests/firmware is shown once for each runtime.

32        the 32-bit build with the chip's object sizes, from .mpy, on a littlefs
cpython   CPython, in a process of its own (tests/support/warm_unit.py), on the host's file system: files of code that the
          host imports, and all files where there is no 32-bit build
chip      as 32, with the chip's ways of time, floats, os and sys (tests/support/firmware/fakes/chip.py): where these matter
64        MicroPython's unix port, 64-bit, from source, on the host's file system: in `make soak`

`make soak` runs all files on all runtimes that concern them, the 32-bit build with the smallest heap of a board.
"""

import ast
import functools
import gc
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx._transports.default as http_transport
import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

import firmware_build
import get_micropython
import limits
import warm_unit
from extent import IS_WHOLE, extent

ROOT = Path(__file__).resolve().parent.parent
UNIT = ROOT / "tests" / "firmware"
SUPPORT = ROOT / "tests" / "support" / "firmware"
DATA = ROOT / "tests" / "data"
SIM = ROOT / "boards" / "SIM"
HEAP = extent("2m", "8m")
"""Of the 32-bit build: the smallest PSRAM of a board, or one in which collections are few."""

SHARED_WITH_HOST = (
    "test_callers", "test_clock", "test_line_meaning", "test_link_messages", "test_log_line", "test_memory_fields",
    "test_days", "test_openers", "test_pin_config", "test_sense_rings", "test_store_ranks", "test_telegram_markup",
    "test_text_", "test_times", "test_tokenizer", "test_transfer", "test_zone",
)  # fmt: skip
"""How the names of the files begin whose code the host imports: they run on CPython too."""

AS_ON_A_CHIP = ("test_chip_socket", "test_clock", "test_net_transport")
"""How the names of the files begin that run as on a chip, too."""

AS_ON_A_CHIP_IN_SOAK = (
    "test_config", "test_journal", "test_link_http", "test_net_http", "test_net_mqtt", "test_llm_model",
    "test_log_line", "test_memory_fields", "test_memory_recall", "test_memory_records",
)  # fmt: skip

WHOLE_FILES = ("tests/cli/", "tests/companion/", "tests/docs/")
"""How the paths of other files begin whose tests go to one worker: they share what takes seconds to make, a companion or a
reading of all code.
"""

BY_PARAMETER = ("/test_networks.py",)
"""How the paths of those end that share something for each first parameter: a network with its server."""

ONE_BY_ONE = ("/test_archive_kills.py", "/test_background_tasks.py", "/test_proof_faults.py")
"""How the paths of those end that share nothing: they wait a lot, so it is well if another worker has something to do."""

WAITING = "tests/e2e/telegram/"
"""A folder whose tests wait for pauses of Telegram's: it comes first, and goes to one worker, while others have work."""

WHOLE_FOLDERS = ("tests/page/tasks/", "tests/page/views/", "tests/real_model/", WAITING)
"""Likewise for folders: all files of one go to one worker, since they share a browser and what it looks at, or all cores."""

SECONDS = extent(1800, 120)
"""How long one unit file may take on one runtime."""

EXTENT = ["whole"] if IS_WHOLE else []
VARIABLES = {"ENGRAM_TEST_DATA": str(DATA)}
"""The last argument and the variables of each run of a unit file."""

# A rename waits for the disk, and a run has thousands of them.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where unit files keep their files: in RAM where the host has a folder for that."""


# An example takes as long as the machine is busy. Those of `make test` are the same each time; `make soak` tries others.
settings.register_profile("engram", deadline=None, derandomize=not IS_WHOLE)
settings.load_profile("engram")

# Each client would read all root certificates, which takes more than most requests.
_make_context = http_transport.create_ssl_context  # pyright: ignore[reportPrivateImportUsage]
http_transport.create_ssl_context = functools.cache(_make_context)  # pyright: ignore[reportPrivateImportUsage]


def pytest_configure(config):
    """Compile the firmware once, before workers start; keep what CPython compiles."""
    # A thousand processes are started: without this each compiles all that it imports, most of what a short one takes.
    os.environ.update(PYTHONPYCACHEPREFIX=str(ROOT / "build" / "pycache"), PYTHONDONTWRITEBYTECODE="")
    if not hasattr(config, "workerinput"):
        firmware_build.compile_all()
        firmware_build.compile_small()


CPU_SECONDS: list[float] = []
"""CPU seconds of the workers that have ended, with the processes that they waited for."""


def pytest_sessionfinish(session):
    """Let each worker report the CPU seconds that it took."""
    if hasattr(session.config, "workeroutput"):
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        session.config.workeroutput["cpu_seconds"] = sum(one.ru_utime + one.ru_stime for one in used)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take what a worker reported."""
    CPU_SECONDS.append(getattr(node, "workeroutput", {}).get("cpu_seconds", 0.0))


def pytest_terminal_summary(terminalreporter):
    """Print the CPU seconds of all workers beside the figure of limits.toml, which is of a whole run."""
    if CPU_SECONDS:
        figure = limits.read()["tests"]["cpu_seconds"]
        terminalreporter.write_line(f"{sum(CPU_SECONDS):.0f} CPU seconds (limits.toml: {figure} for a whole run)")


_FEW_MODULES = 100
_modules_before = 0
"""How many modules were loaded when collections left out what was there."""


def pytest_collection():
    """Collect no garbage while test files are imported: there is none, and the looks for it take half of that time."""
    gc.disable()


def pytest_collection_finish():
    """Leave out of collections of garbage what is there before the tests: the firmware asks for many, and each takes 50 ms."""
    gc.enable()
    _leave_out_of_collections()


def pytest_runtest_logstart():
    """Likewise for what tests have loaded since then, such as a client with its thousand classes."""
    if len(sys.modules) > _modules_before + _FEW_MODULES:
        _leave_out_of_collections()


def _leave_out_of_collections():
    global _modules_before
    _modules_before = len(sys.modules)
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def awaited():
    """See after each file that no coroutine was left unawaited: what is part of a cycle shows when it is collected."""
    yield
    _leave_out_of_collections()


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
    return UnitFile.from_parent(parent, path=module_path) if UNIT in module_path.parents else None


def pytest_collection_modifyitems(items):
    """Put tests that wait first; unit files last: they are many and short, so all workers end at about the same time."""
    items.sort(key=lambda item: (not item.nodeid.startswith(WAITING), item.path.is_relative_to(UNIT)))


def pytest_xdist_make_scheduler(config, log):
    """Hand the tests to the workers so that no unit file is run by both."""
    return Scheduling(config, log)


class Scheduling(LoadScopeScheduling):
    """Gives a unit file's tests of one runtime to one worker, those of a whole file or folder too, and all others one by one.

    Not by marks for --dist loadgroup: with xdist 3.8 and pytest 9.2 these are silently ignored.
    """

    def _split_scope(self, nodeid: str) -> str:
        path, _, test = nodeid.partition("::")
        if path.startswith("tests/firmware/"):
            return path + test[test.rindex("[") :]
        for folder in WHOLE_FOLDERS:
            if path.startswith(folder):
                return folder
        if path.endswith(BY_PARAMETER):
            return path + test.partition("-")[0]
        return path if path.startswith(WHOLE_FILES) and not path.endswith(ONE_BY_ONE) else nodeid


class UnitFile(pytest.File):
    """One unit file, once for each runtime."""

    def collect(self):
        """One item for each test and runtime."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        names = [node.name for node in tree.body if isinstance(node, kinds) and node.name.startswith("test_")]
        for runtime in runtimes_of(self.path.stem):
            results = UnitRun(self.path, runtime)
            for name in sorted(names):
                item = UnitItem.from_parent(self, name=f"{name}[{runtime}]", test=name, results=results)
                item.add_marker(pytest.mark.shortened)
                yield item


@functools.cache
def has_micropython_32() -> bool:
    """True if the 32-bit build runs on this machine."""
    return get_micropython.usable(get_micropython.HOME / "32", 32)


def runtimes_of(module: str) -> list[str]:
    """Return the runtimes on which a unit file runs."""
    has_32 = has_micropython_32()
    wanted = {
        "32": has_32,
        "cpython": IS_WHOLE or not has_32 or module.startswith(SHARED_WITH_HOST),
        "chip": has_32 and module.startswith(AS_ON_A_CHIP + (AS_ON_A_CHIP_IN_SOAK if IS_WHOLE else ())),
        "64": IS_WHOLE,
    }
    return [runtime for runtime, is_wanted in wanted.items() if is_wanted]


class UnitRun:
    """What one process, that ran one file on one runtime, printed of each test."""

    def __init__(self, path: Path, runtime: str):
        self.path = path
        self.runtime = runtime
        self.printed: dict[str, tuple[bool, str]] | None = None
        self.output = ""

    def of(self, test: str) -> tuple[bool, str]:
        """Whether `test` passed, and what was printed when it did not."""
        if self.printed is None:
            self.printed = self._run()
        return self.printed.get(test, (False, "the run ended before this test:\n" + self.output[-3000:]))

    def _run(self) -> dict[str, tuple[bool, str]]:
        with tempfile.TemporaryDirectory(prefix="engram-unit-", dir=MEMORY) as folder:
            output = self._on_cpython(folder) if self.runtime == "cpython" else self._on_micropython(folder)
        self.output = output.decode("utf-8", "replace")
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

    def _on_cpython(self, folder: str) -> bytes:
        words = [str(SUPPORT / "runner.py"), self.path.stem, folder, "host", *EXTENT]
        return warm_unit.run(words, _sources(self.path.parent), VARIABLES, folder, SECONDS)

    def _on_micropython(self, folder: str) -> bytes:
        command, path, storage = _how(self.runtime, self.path.parent)
        done = subprocess.run(
            [*command, self.path.stem, folder, storage, *EXTENT],
            capture_output=True,
            timeout=SECONDS,
            env={**os.environ, "MICROPYPATH": ":".join(map(str, path)), **VARIABLES},
            cwd=folder,
        )
        return done.stdout + done.stderr


def _sources(folder: Path) -> list[Path]:
    """From where the unit files of a folder import, where the firmware runs from source."""
    return [ROOT / "firmware", SUPPORT, folder, SIM]


def _how(runtime: str, folder: Path) -> tuple[list[str], list[Path], str]:
    """Command, folders to import from and storage of a runtime of MicroPython, for the unit files of a folder."""
    bits = "32" if runtime == "chip" else runtime
    micropython = get_micropython.HOME / bits
    if not get_micropython.usable(micropython, int(bits)):
        pytest.skip(f"there is no {bits}-bit MicroPython for this machine")
    if runtime == "64":
        command = [str(micropython), "-X", "heapsize=4m", str(SUPPORT / "runner.py")]
        return command, [*_sources(folder), Path(".frozen")], "host"
    own = firmware_build.TESTS / folder.relative_to(UNIT)
    compiled = [firmware_build.FIRMWARE, firmware_build.SUPPORT, own, firmware_build.SIM, Path(".frozen")]
    command = [str(micropython), "-X", f"heapsize={HEAP}", "-m", "runner"]
    return command, compiled, "chip" if runtime == "chip" else "littlefs"


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
