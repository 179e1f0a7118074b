"""The wheel: what is in it, and what runs from it without a clone."""

import functools
import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import get_micropython
from cli_case import fine
from engram_host.extras import EXTRAS
from environment import ROOT, SECONDS, Environment, empty, install, requirements
from one_case import in_one_case
from sharing import shared

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
THEIRS = "THEIRS = True\n"
"""The other project's package `engram`, as far as a test needs one."""

needs_micropython = pytest.mark.skipif(
    not get_micropython.usable(get_micropython.HOME / "64", 64), reason="there is no MicroPython"
)


_distributions = functools.cache(metadata.packages_distributions)
"""The names of the distributions that have a module; it reads those of all packages."""


def _names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as file:
        return file.namelist()


def _with_micropython(environment: Environment, folder: Path) -> str:
    """A PATH on which `micropython` is, too."""
    folder.mkdir(exist_ok=True)
    launcher = folder / "micropython"
    launcher.write_text(f'#!/bin/sh\nexec "{get_micropython.HOME / "64"}" "$@"\n')
    launcher.chmod(0o755)
    shell = Path(shutil.which("dirname") or "/usr/bin/dirname").parent
    return f"{environment.folder / 'bin'}:{folder}:{shell}"


# --- what is in it


def test_the_wheel_has_one_package_at_its_top(wheel: Path):
    assert {name.partition("/")[0] for name in _names(wheel)} == {"engram_host", "engram_mcu-0.1.0.dist-info"}


def test_the_wheel_has_all_of_the_firmware(wheel: Path):
    files = (path for kind in ("py", "txt") for path in (ROOT / "firmware").rglob(f"*.{kind}"))
    own = {path.relative_to(ROOT / "firmware").as_posix() for path in files}
    prefix = "engram_host/_firmware/"
    assert {name.removeprefix(prefix) for name in _names(wheel) if name.startswith(prefix)} == own


def test_the_wheel_has_nothing_compiled_and_no_tests(wheel: Path):
    assert not [name for name in _names(wheel) if name.endswith(".pyc") or "/tests/" in name]


def test_the_base_needs_three_packages(base: Environment):
    (installed,) = metadata.distributions(name="engram-mcu", path=[str(base.packages)])
    assert {need.name for need in requirements(installed)} == {"typer", "httpx", "rich"}


@in_one_case("extra", EXTRAS)
def test_an_extra_is_what_the_code_says_of_it(extra: str):
    wanted = {
        line.partition("[")[0].partition(">")[0].partition("<")[0] for line in PYPROJECT["optional-dependencies"][extra]
    }
    assert set(EXTRAS[extra]) == wanted
    for name, module in EXTRAS[extra].items():
        owners = {owner.lower().replace("_", "-") for owner in _distributions()[module]}
        assert name in owners, f"{module} is a module of {owners}"


# --- beside the other project's


@pytest.fixture(scope="module")
def beside(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that has another distribution `engram`, with a package and a command of that name."""
    return shared(tmp_path_factory, "beside", lambda: _made_beside(wheel, tmp_path_factory.mktemp("beside")))


def _made_beside(wheel: Path, folder: Path) -> Environment:
    environment = empty(folder / "venv")
    theirs = environment.packages / "engram"
    theirs.mkdir()
    (theirs / "__init__.py").write_text(THEIRS)
    (environment.packages / "engram-9.9.dist-info").mkdir()
    (environment.packages / "engram-9.9.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: engram\nVersion: 9.9\n"
    )
    install(wheel, environment)
    (environment.folder / "bin" / "engram").write_text("#!/bin/sh\necho theirs\n")
    return environment


def test_the_other_engram_stays_as_it_is(beside: Environment, tmp_path: Path):
    assert (beside.packages / "engram" / "__init__.py").read_text() == THEIRS
    assert sorted(path.name for path in (beside.packages / "engram").iterdir() if path.is_file()) == ["__init__.py"]
    ran = beside.run(tmp_path, "python", "-c", "import engram; print(engram.THEIRS)")
    assert ran.out == "True\n", ran


def test_the_command_runs_the_firmwares_code_beside_the_other_engram(beside: Environment, tmp_path: Path):
    (tmp_path / "notes.md").write_text("- Ada drinks tea\n")
    ran = beside.run(tmp_path, "engram-mcu", "import", "notes.md", "--out", "notes.jsonl", "--json")
    assert ran.status == 0 and json.loads(ran.out)["written"] == 1, ran


def test_a_process_that_has_loaded_the_other_engram_gets_an_error(beside: Environment, tmp_path: Path):
    ran = beside.run(tmp_path, "python", "-c", "import engram, engram_host")
    assert "another package named engram is loaded in this process" in ran.err


# --- the simulated board


@needs_micropython
def test_a_simulated_board_runs_from_the_base_package(base: Environment, tmp_path: Path):
    path = _with_micropython(base, tmp_path / "bin")
    board = tmp_path / "board"
    ran = base.run(tmp_path, "engram", "run", "--home", board, given="remember that my bike is green\n", PATH=path)
    assert ran.status == 0 and "Remembered as m1" in ran.out, ran
    ran = base.run(tmp_path, "engram", "run", "--home", board, given="/memory show m1\n", PATH=path)
    assert ran.status == 0 and "my bike is green" in ran.out, ran


# --- with the extras


def test_the_image_of_a_board_is_the_clones(whole: Environment, tmp_path: Path):
    ours, theirs = tmp_path / "clone.bin", tmp_path / "wheel.bin"
    words = ("board", "image", "--board", "ESP32_GENERIC_SPIRAM", "--out")
    ran = whole.run(tmp_path, "engram", *words, theirs)
    assert ran.status == 0, ran
    fine(*words, ours)
    assert theirs.read_bytes() == ours.read_bytes()


def test_a_companion_serves_and_is_asked(whole: Environment, tmp_path: Path):
    home = tmp_path / "home"
    variables = whole.variables(tmp_path, EMBEDDING_PROVIDER="none", ENGRAM_COMPANION_HOME=str(home))
    words = ["serve", "--http-port", "0", "--json"]
    command = [str(whole.folder / "bin" / "engram"), *words]
    with subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=subprocess.PIPE) as serving:
        try:
            assert serving.stdout and "http" in json.loads(serving.stdout.readline())
            ran = whole.run(tmp_path, "engram", "api", "GET", "/v1/health", ENGRAM_COMPANION_HOME=str(home))
            assert json.loads(ran.out)["status"] == "well", ran
        finally:
            serving.terminate()
    added = whole.run(tmp_path, "engram", "device", "add", "kitchen", "--json", ENGRAM_COMPANION_HOME=str(home))
    assert json.loads(added.out)["device"] == "kitchen", added


# --- pip itself


@pytest.mark.soak
def test_pip_installs_the_wheel_and_the_command_runs(wheel: Path, tmp_path: Path):
    environment = empty(tmp_path / "venv")
    pip = [sys.executable, "-m", "pip", "--python", str(environment.folder / "bin" / "python")]
    subprocess.run(
        [*pip, "install", "-qq", "--disable-pip-version-check", str(wheel)], check=True, timeout=10 * SECONDS
    )
    assert environment.run(tmp_path, "engram-mcu", "--help").status == 0
    assert not (environment.packages / "engram").exists()
