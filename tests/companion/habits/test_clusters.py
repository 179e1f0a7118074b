"""Habits among the events and notes of 90 made-up days are found by meaning, and little else."""

import asyncio
import random
import tomllib
from pathlib import Path

from engram_host.companion.embedding.e5 import MultilingualE5
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.habits.clusters import Sighting, find_clusters

DAYS = tomllib.loads((Path(__file__).parents[2] / "data/habits/days.toml").read_text("utf-8"))
STEPS = (7, 10, 13)
"""Days from one time to the next of each habit."""


def made_up(language: str, seed: int) -> dict[Sighting, int]:
    """Lines of 90 days, half of it in notes, with the number of its habit, or -1."""
    chance, said = random.Random(seed), DAYS[language]
    told: list[tuple[int, str, int]] = [(chance.randrange(90), line, -1) for line in said["others"]]
    for habit, (step, forms) in enumerate(zip(STEPS, said["habits"], strict=True)):
        for day in range(chance.randrange(step), 90, step):
            names = {"n": chance.choice(said["names"]), "x": chance.choice(said["subjects"])}
            told.append((min(89, day + chance.randrange(2)), chance.choice(forms).format(**names), habit))
    refs = [f"m{place}" if chance.random() < 0.5 else f"n.md#{place}" for place in range(len(told))]
    return {Sighting(ref, day, "user:owner", line): habit for ref, (day, line, habit) in zip(refs, told, strict=True)}


def test_nearly_all_clusters_are_habits_and_no_habit_is_missed(tmp_path: Path):
    async def find() -> list[tuple[set[int], int]]:
        model, found = LocalEmbedder(MultilingualE5(), 2, tmp_path), []
        for language in DAYS:
            lines = made_up(language, 20)
            keys = [f"{line.day % 30 + 1} May 2026\n- {line.text}" if "#" in line.ref else line.text for line in lines]
            clusters = find_clusters([*lines], await model.embed(keys, "passage"))
            habits = [{lines[line] for line in cluster} for cluster in clusters]
            found.append((set[int]().union(*habits) - {-1}, sum(-1 in habit for habit in habits)))
        await model.close()
        return found

    assert asyncio.run(find()) == [({0, 1, 2}, 0)] * 3
