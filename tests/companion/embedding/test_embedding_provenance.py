"""The local model's files: only the original's are used; else searches go by words, and health, doctor and log say why."""

import asyncio
from pathlib import Path

import pytest

from companion_store import embedding_of
from engram_host.companion.embedding.e5 import MultilingualE5
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.local_model import LocalModel
from engram_host.companion.embedding.minilm import BRING_BACK, SOURCE, MiniLm
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.store import CompanionStore
from one_case import in_one_case
from waiting import wait_until_async

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The model's folder, in which a letter of the tokenizer is another one."""
    original = MiniLm().folder()
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / WEIGHTS).symlink_to(original / WEIGHTS)
    text = (original / TOKENIZER).read_text(encoding="utf-8")
    (folder / TOKENIZER).write_text(text.replace('"##ing"', '"##gni"', 1), encoding="utf-8")
    monkeypatch.setattr(MiniLm, "folder", lambda model: folder)
    return folder


@in_one_case("model", [MiniLm(), MultilingualE5()])
def test_the_files_of_the_installed_package_are_the_expected_ones(model: LocalModel):
    model.check(model.folder())


def test_a_changed_file_is_not_used_and_its_name_is_reported(changed: Path):
    with pytest.raises(EmbedderRefused, match=f"{TOKENIZER} is not the one that {SOURCE} publishes"):
        asyncio.run(LocalEmbedder(MiniLm()).ready())


def test_a_file_that_is_gone_is_reported_with_what_brings_it_back(changed: Path):
    (changed / WEIGHTS).unlink()
    with pytest.raises(EmbedderRefused, match=f"{WEIGHTS} cannot be read .* {BRING_BACK} brings it back"):
        MiniLm().check(changed)


def test_searches_go_by_words_and_health_says_why(changed: Path, store: CompanionStore):
    async def told() -> tuple[str, str]:
        meaning = embedding_of(store, "minilm")
        meaning.start()
        try:
            await wait_until_async("a problem", lambda: TOKENIZER in meaning.problem)
            return meaning.problem, meaning.status_line()
        finally:
            await meaning.stop()

    problem, how_it_stands = asyncio.run(told())
    assert "is not the one that" in problem and problem.endswith(".")
    assert how_it_stands.endswith("searches go by words only.")
