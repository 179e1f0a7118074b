"""What calls cost, by prices of the settings."""

import math

from engram_host.companion.errors import SettingError

MILLIONTHS = 1_000_000
"""A cost is kept in millionths of the currency that the prices are in: so it is a whole number, and adds up exactly."""

_MOST = 1e6


class Prices:
    """Prices of a million tokens of requests and of answers by model, as in "small 0.15 0.60, large 2.5 10"; SettingError."""

    def __init__(self, listed: str):
        self._prices = dict(_price(entry.split()) for entry in listed.split(",") if entry.strip())

    def __bool__(self) -> bool:
        return bool(self._prices)

    def cost(self, model: str, used_input: int, used_output: int) -> int:
        """The cost of a call in millionths, rounded up. A model without a price costs as much as the dearest, so that no cost
        is overlooked.
        """
        known = self._prices.get(model)
        prices = [known] if known else self._prices.values()
        return max((math.ceil(used_input * each[0] + used_output * each[1]) for each in prices), default=0)


def _price(words: list[str]) -> tuple[str, tuple[float, float]]:
    try:
        model, *numbers = words
        asked, answered = (float(number) for number in numbers)
    except ValueError:
        asked = answered = -1.0
        model = ""
    if not (0 <= asked <= _MOST and 0 <= answered <= _MOST):
        raise SettingError(
            "gateway.prices",
            'has to be models with the prices of a million tokens asked and answered, such as "small-model 0.15 0.60".',
        )
    return model, (asked, answered)
