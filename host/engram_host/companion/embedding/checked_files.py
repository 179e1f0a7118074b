"""The check of a local model's files before they are used: nothing of a stranger's package is trusted or run."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from engram_host.companion.errors import EmbedderRefused


def check_files(folder: Path, digests: Mapping[str, str], source: str, bring_back: str) -> None:
    """Read the files to their end; EmbedderRefused if the SHA-256 of one is not the expected one.

    `digests` are by the file's name, `source` is who publishes them, `bring_back` the command that brings them back.
    """
    for name, expected in digests.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderRefused(
                f"the local model's {name} cannot be read ({error.strerror}); {bring_back} brings it back."
            ) from None
        if found != expected:
            raise EmbedderRefused(
                f"the local model's {name} is not the one that {source} publishes, so it is not used;"
                f" {bring_back} brings the right one back."
            )
