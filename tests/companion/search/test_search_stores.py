"""Both databases give the same answers, to the last digit of a score: those of a store in RAM."""

from dataclasses import replace

import pytest

from engram import log_line
from engram_host.companion.entries.lines import embedding_text
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.vectors import StoredVector, text_digest
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Sender, SeqRange
from search_store import IDENTITY, NOW, Search, SearchStore, asked, embed_all, engine_of, record, turn, vector_of

PLACES = ["garden", "shed", "shop", "sea", "roof"]
JOURNAL = [
    turn(seq, f"the {PLACES[seq % 5]} and the {PLACES[seq * seq % 3]}", f"s{1 + seq // 7}", "ann", NOW - 50_000 * seq)
    for seq in range(1, 60)
]
RECORDS = [
    record(seq, f"the {PLACES[seq % 4]} is new", tags=["home"], turns=[f"t{seq * 5}"], importance=seq / 12)
    for seq in range(1, 12)
]
QUESTIONS = ["the garden and the sea", "new roof", "ann in the shed", "zebra garden"]


def fill(store: CompanionStore) -> None:
    logs: dict[LogName, LogState] = {"records": LogState(1, 1, 12, 0), "journal": LogState(1, 1, 60, 0)}
    store.replication.greet(Hello("b", Sender("id", 1, 1), 0, logs), NOW)
    told: tuple[tuple[LogName, list[bytes]], ...] = (("journal", JOURNAL), ("records", RECORDS))
    for n, (log, lines) in enumerate(told, 2):
        numbered = [(log_line.decode(line)["seq"], line) for line in lines]
        store.replication.store_batches(
            [LineBatch(Sender("id", 1, n), SeqRange("b", log, 1, 0, len(lines)), numbered)], NOW
        )
        texts = [(seq, embedding_text(log, log_line.decode(line), 0)) for seq, line in reversed(numbered)]
        vectors = [StoredVector(log, seq, text_digest(text), vector_of(text)) for seq, text in texts]
        store.vectors.put_vectors("b", IDENTITY, vectors)


@pytest.mark.both_databases
def test_a_database_gives_the_answers_of_a_store_in_ram(store: CompanionStore):
    fill(store)
    plain = SearchStore()
    plain.put_all("b", JOURNAL, RECORDS)
    embed_all(plain, "b")
    on_disk, in_ram = Search(store.boards, store.vectors, with_meaning=True), engine_of(plain, True)
    for question in QUESTIONS:
        request = asked(question, limit=50, explain=True)
        found = [replace(engine.search(request), search_ms=0) for engine in (on_disk, in_ram)]
        assert found[0] == found[1]
