"""Files of boards that tests begin with, and what is on a flash afterwards."""

import json
import os
from hashlib import sha256
from pathlib import Path

from engram_host.boards import flash, profile
from engram_host.boards.file_set import Files
from engram_host.firmware import FIRMWARE

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "host")}
"""For `python -m engram_host board` in a process of its own."""

BOARD = profile.load_profile("ESP32_GENERIC_SPIRAM")
BOOT = (FIRMWARE / "boot.py").read_bytes()
KEPT: Files = {
    "config.json": b'{"mode": "lightweight"}',
    "secrets.json": b'{"llm": {"key": "k"}}',
    "profile/user.md": b"# User\nAnn\n",
    "profile/soul.md": b"# Soul\n",
    "profile/identity.md": b"# Identity\n",
    "roots.pem": b"mine",
    "memory/memory_records.jsonl": b'{"seq":1}\n' * 500,
    "journal/journal.jsonl": b'{"seq":2}\n' * 500,
}
OLD: Files = {
    "boot.py": BOOT,
    "main.py": b"print('old')\n",
    "engram/app.mpy": b"old app" * 900,
    "engram/same.mpy": b"same" * 700,
}
NEW: Files = {
    "boot.py": BOOT + b"\n",
    "main.py": b"print('new')\n",
    "engram/app.mpy": b"new app" * 1000,
    "engram/same.mpy": b"same" * 700,
    "engram/store/new.mpy": b"",
    "engram/device/x/new.mpy": bytes(range(256)) * 10,
}


def with_code_json(code: Files) -> Files:
    told = {"board": BOARD.name, "files": {path: sha256(content).hexdigest()[:16] for path, content in code.items()}}
    return code | {"code.json": json.dumps(told).encode()}


def flash_with(folder: Path, files: Files, size: int = 512 << 10) -> Path:
    path = folder / "flash.bin"
    path.write_bytes(flash.build_littlefs(files, size))
    return path


def files_on(image: Path) -> Files:
    data = image.read_bytes()
    found = flash.LittlefsReader(lambda offset, length: data[offset : offset + length])
    return {path: found.content(path) for path in found.sizes()}
