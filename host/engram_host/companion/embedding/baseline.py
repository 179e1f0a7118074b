"""How near a model takes texts to be that have nothing to do with each other: some models give .05, others .8.

A search compares with it, so that a cosine says the same whatever the model is, in a memory of a few entries as well.
"""

import numpy as np

from engram_host.companion.embedding.embedder import Embedder

UNRELATED = (
    "The train to the coast leaves at nine from platform four.",
    "My cousin plays the trumpet in a school band.",
    "Add two spoons of flour and stir until it thickens.",
    "The landlord wants the rent on the first of each month.",
    "A red kite circled over the field behind the barn.",
    "She failed her driving test because of the roundabout.",
    "The printer on the second floor is out of toner.",
    "We painted the fence green last summer.",
    "His knee still hurts when he climbs stairs.",
    "The museum shows Roman coins until October.",
    "El perro del vecino ladra toda la noche.",
    "这家银行周末不开门。",
)
"""Sentences of twelve matters."""


async def unrelated_cosine(embedder: Embedder) -> float:
    """The median cosine of two of UNRELATED; EmbedderError."""
    vectors = (await embedder.embed(UNRELATED, "passage")).astype(np.float64)
    cosines = vectors @ vectors.T
    return float(np.median(cosines[np.triu_indices(len(UNRELATED), 1)]))
