"""Reads the sensors of config.json: one task for all of them."""

from engram import diag
from engram.compat import const, sleep_ms, ticks_add, ticks_diff, ticks_ms
from engram.senses.drivers import make_driver

_LOOK_MS = const(1000)  # between two looks at pins, which are read when they change


class Sampling:
    """Samples sensors, one for each SenseConfig, at their own paces; `pins` are the board's Pins."""

    def __init__(self, senses, configs: list, pins):
        self._senses = senses
        self._pins = pins
        self._sensors = [_Sensor(config) for config in configs if config.kind != "code"]
        self._shared = {}

    async def run(self) -> None:
        """Read each sensor when it is due, for ever."""
        while True:
            for sensor in self._sensors:
                await self._read_if_due(sensor)
            now = ticks_ms()
            left = [ticks_diff(sensor.due, now) for sensor in self._sensors]
            await sleep_ms(max(1, min([_LOOK_MS] + left)))

    def failing(self) -> list:
        """Return the names of the senses whose sensor could not be read the last time."""
        failed = [self._senses.find(sensor.config.name) for sensor in self._sensors if sensor.has_failed]
        return [sense.name for sense in failed if sense]

    async def _read_if_due(self, sensor) -> None:
        """Read a sensor if it is time. One that fails is reported once until it works again."""
        config = sensor.config
        try:
            if not sensor.is_due():
                return
            sensor.set_next()
            if sensor.driver is None:
                sensor.driver = make_driver(config, self._shared, self._pins)
            value = await sensor.driver.read()
            if value is not None:
                self._senses.observe(config.name, value, config.unit)
        except Exception as error:  # noqa: BLE001 MicroPython's drivers of sensors raise it: wrong checksums, no answer
            if not sensor.has_failed:
                sensor.has_failed = True
                problem = str(error) or type(error).__name__
                diag.warning("senses", "%s cannot be read: %s; trying on" % (config.name, problem))
            return
        if sensor.has_failed:
            sensor.has_failed = False
            diag.info("senses", "%s is read again" % config.name)


class _Sensor:
    """The sensor of one sense."""

    def __init__(self, config):
        self.config = config
        self.driver = None
        self.has_failed = False
        self.due = ticks_ms()

    def is_due(self) -> bool:
        return ticks_diff(ticks_ms(), self.due) >= 0 or (self.driver is not None and self.driver.has_news)

    def set_next(self) -> None:
        """Let it be due at the next multiple of its pace after the first time, whatever was missed."""
        now, pace = ticks_ms(), 1000 * self.config.every
        late = ticks_diff(now, self.due)
        if late >= 0:
            self.due = ticks_add(self.due, (late // pace + 1) * pace)
