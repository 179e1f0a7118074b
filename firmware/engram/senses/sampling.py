"""Reads the sensors of config.json: one task for all of them."""

from engram import diag
from engram.compat import const, sleep_ms, ticks_add, ticks_diff, ticks_ms
from engram.senses.drivers import make_driver

_LOOK_MS = const(1000)  # between two looks at pins, which are read when they change


class Sampling:
    """Samples some sensors, each at its own pace."""

    def __init__(self, senses, configs: list, read_pin):
        self._senses = senses
        self._read_pin = read_pin
        now = ticks_ms()
        self._sampled = [Sampled(config, now) for config in configs if config.kind != "code"]
        self._shared = {}

    async def run(self) -> None:
        """Read each sensor when it is due, for ever."""
        while True:
            for sampled in self._sampled:
                await self._sample_if_due(sampled)
            await sleep_ms(self._pause_ms())

    def failing(self) -> list:
        """The names of the senses whose sensor could not be read the last time."""
        return [sampled.config.name for sampled in self._sampled if sampled.has_failed]

    def _pause_ms(self) -> int:
        now = ticks_ms()
        left = [ticks_diff(sampled.due, now) for sampled in self._sampled]
        return max(1, min([_LOOK_MS] + left))

    async def _sample_if_due(self, sampled) -> None:
        """Read a sensor if it is time. One that fails is reported once until it works again."""
        config = sampled.config
        try:
            if not sampled.is_due():
                return
            sampled.set_next()
            if sampled.driver is None:
                sampled.driver = make_driver(config, self._shared, self._read_pin)
            await sampled.driver.prepare()
            value = sampled.driver.read()
            if value is not None:
                self._senses.observe(config.name, value, config.unit)
        except Exception as error:  # noqa: BLE001 MicroPython's drivers of sensors raise it: wrong checksums, no answer
            if not sampled.has_failed:
                sampled.has_failed = True
                problem = str(error) or type(error).__name__
                diag.warning("senses", "%s cannot be read: %s; trying on" % (config.name, problem))
            return
        if sampled.has_failed:
            sampled.has_failed = False
            diag.info("senses", "%s is read again" % config.name)


class Sampled:
    """One sense that is sampled."""

    def __init__(self, config, now: int):
        self.config = config
        self.driver = None
        self.has_failed = False
        self.due = now

    def is_due(self) -> bool:
        """Whether it is to be read now."""
        return ticks_diff(ticks_ms(), self.due) >= 0 or (self.driver is not None and self.driver.has_news)

    def set_next(self) -> None:
        """Say when it is read next: a multiple of its pace after the first time, whatever was missed."""
        now, pace = ticks_ms(), 1000 * self.config.every
        late = ticks_diff(now, self.due)
        if late >= 0:
            self.due = ticks_add(self.due, (late // pace + 1) * pace)
