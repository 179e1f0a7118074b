"""Packages are taken from a mirror's pool by the hashes of debian.lock."""

import functools
import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import debian_pool
import versions

CONTENT = b"a package's bytes"
LOCKED = debian_pool.Package("pool/main/p/p+1_all.deb", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """The file that a mirror serves as LOCKED."""
    path = tmp_path / "mirror" / LOCKED.path
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def mirror(pool: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a mirror with that pool."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "mirror"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_a_package_that_was_fetched_is_not_fetched_again(mirror: str, pool: Path, tmp_path: Path):
    debian_pool.download(LOCKED, mirror, tmp_path)
    pool.unlink()
    assert debian_pool.download(LOCKED, mirror, tmp_path).read_bytes() == CONTENT


def test_a_file_that_was_torn_is_fetched_again(mirror: str, tmp_path: Path):
    (tmp_path / LOCKED.name).write_bytes(CONTENT[:5])
    assert debian_pool.download(LOCKED, mirror, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize(
    "served", [CONTENT + b"!", CONTENT[:-1], CONTENT[:-1] + b"!"], ids=["longer", "shorter", "other"]
)
def test_a_package_with_another_content_is_refused(mirror: str, pool: Path, tmp_path: Path, served: bytes):
    pool.write_bytes(served)
    with pytest.raises(debian_pool.Missing, match="not the file that was locked"):
        debian_pool.download(LOCKED, mirror, tmp_path)
    assert not (tmp_path / LOCKED.name).exists()


@pytest.mark.parametrize("architecture", ["amd64", "i386", "arm64"])
def test_the_lock_has_the_micropython_that_is_pinned(architecture: str):
    wanted = f"micropython={versions.MICROPYTHON_PACKAGE}"
    packages = debian_pool.locked(wanted, versions.MICROPYTHON_SUITE, architecture)
    assert {package.name.split("_")[0] for package in packages} >= {"micropython", "libc6", "libffi8"}
