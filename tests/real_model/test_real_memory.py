"""A real model learns from messages, sees memories, and uses its tools."""

import contextlib
import json
from pathlib import Path

import pytest

from driving import Home, Talk, say, talking
from engram.text.light_words import content_terms
from fake_llm import serving as serving_script
from llama_server import LlamaServer
from waiting import wait_until

pytestmark = [pytest.mark.real_model, pytest.mark.soak]

HERE = Path(__file__).parent
MESSAGES = json.loads((HERE / "messages.json").read_text(encoding="utf-8"))
"""Messages of people, with the words of each fact in it."""

MEMORIES = json.loads((HERE / "memories.json").read_text(encoding="utf-8"))
"""Facts, each with a question for it."""

LEARNED = {"qwen15": 0.8}
"""The least share of the facts in MESSAGES that a model learns, if any."""

ORDERS = {
    "Please remember that my bike is green.": ("memory/memory_records.*jsonl", "green"),
    "Remind me tomorrow at 9:00 to water the fern.": ("memory/timers.jsonl", "fern"),
    "Please remember that Anna is allergic to nuts.": ("memory/memory_records.*jsonl", "nuts"),
    "Please note for today that the plumber came.": ("memory/*.md", "plumber"),
}


def test_each_question_comes_with_what_was_kept_before_a_restart(home: Home, server: LlamaServer, measured):
    say(home, *(f"remember that {fact}" for fact in MEMORIES))
    server.start()
    say(home.asking(server.url), *MEMORIES.values())
    asked = [prompt.rpartition("user\n")[2] for prompt in server.prompts()]
    recalled = [
        any(memory in said for said in asked if question in said)
        for memory, question in zip(home.memories(), MEMORIES.values(), strict=True)
    ]
    answers = [turn["text"] for turn in home.turns() if turn["role"] == "assistant"][-len(MEMORIES) :]
    right = [fact.split()[-1].lower() in answer.lower() for fact, answer in zip(MEMORIES, answers, strict=True)]
    measured(recalled=f"{sum(recalled)} of {len(recalled)}", answered=f"{sum(right)} of {len(right)}")
    assert all(recalled), [question for question, is_there in zip(asked, recalled, strict=False) if not is_there]


def test_facts_are_learned_from_messages_and_nothing_else(home: Home, server: LlamaServer, model: str, measured):
    with serving_script([{"reply": "I see."}]) as script:
        say(home.asking(script.url), *(line for row in MESSAGES for line in ("/session new", row["said"])))
    server.start()
    to_read = sum(bool(content_terms(row["said"])) for row in MESSAGES)
    with talking(home.asking(server.url).having(extract__on=True, extract__pause_seconds=0)) as talk:
        with contextlib.suppress(AssertionError):  # a small model may write for ever: what it got through counts
            wait_until("not all was read", lambda: messages_read(talk) >= to_read, within=3 * home.within)
        read = messages_read(talk)
    stored = [content.lower() for content in home.memories()]
    facts = [words for row in MESSAGES for words in row["facts"]]
    right = sum(any(all(word in content for word in words) for content in stored) for words in facts)
    wrong = [content for content in stored if not any(all(word in content for word in words) for words in facts)]
    taught = {turn for record in home.lines("memory/memory_records") for turn in record.get("turns", ())}
    ids = {turn["text"]: f"t{turn['seq']}" for turn in home.turns()}
    empty = [ids[row["said"]] not in taught for row in MESSAGES if not row["facts"]]
    measured(
        read=f"{read} of {to_read}",
        learned=f"{right} of {len(facts)}",
        wrong=len(wrong),
        empty=f"{sum(empty)} of {len(empty)}",
    )
    assert right >= LEARNED.get(model, 0) * len(facts), stored
    assert len(wrong) <= (1 if model in LEARNED else len(facts)), wrong


def messages_read(talk: Talk) -> int:
    talk.say("/stats")
    return int(talk.heard("messages since the start").split()[-5])


def test_orders_are_carried_out(home: Home, server: LlamaServer, measured):
    server.start()
    say(home.asking(server.url).having(llm__reply_tokens=200), *ORDERS)
    done = [any(word in path.read_text() for path in home.folder.glob(files)) for files, word in ORDERS.values()]
    measured(orders=f"{sum(done)} of {len(done)}")
