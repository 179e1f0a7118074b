"""The pins of a board by name: their values for people, the model's two tools, and the command /pin."""

from engram import diag, text
from engram.errors import ArgumentError, EngramError
from engram.memory.access import is_owner
from engram.tools import pin_config
from engram.tools.pin_config import OUTPUTS
from engram.tools.pin_driver import REFUSALS, is_simulated, open_driver
from engram.tools.toolbox import Tool, object_schema

_VALUE = {"anyOf": [{"type": "string", "enum": ["on", "off"]}, {"type": "integer", "minimum": 0, "maximum": 100}]}
_SET = "Set an output of the board: on or off, or per cent for one that dims."
_READ = "Read one pin of the board, or all of them."


def open_pins(table: dict, folder: str) -> "Pins":
    simulated = is_simulated()
    found = pin_config.parse_pins(table, () if simulated else pin_config.forbidden_pins(folder))
    return Pins([(pin, open_driver(pin)) for pin in found], simulated)


class Pins:
    def __init__(self, pins: list, simulated: bool):
        self._pins = pins
        self.is_simulated = simulated

    def values(self) -> dict:
        return {pin.name: _shown(pin, driver) for pin, driver in self._pins}

    def number(self, name: str):
        """Return a pin's number, None if unreadable."""
        return _read(*self._named(name))

    def on_rise(self, name: str, handler) -> None:
        """Call a handler on rising input, one handler per pin."""
        self._named(name)[1].on_rise(handler)

    def _named(self, name: str) -> tuple:
        for pin, driver in self._pins:
            if pin.name == name:
                return pin, driver
        names = ", ".join([pin.name for pin, _ in self._pins])
        raise ArgumentError("pin", "there is no pin %s; there are %s." % (text.printable(name)[:40], names))

    def make_safe(self) -> None:
        """Set each output to its safe state, despite failing ones."""
        for pin, driver in self._pins:
            if pin.mode in OUTPUTS:
                try:
                    driver.write(pin.safe)
                except REFUSALS as error:
                    diag.error("pins", "%s is not safe: %s" % (pin.name, error))

    def set(self, name: str, value):
        """Set an output to "on", "off" or per cent (pwm); return its value. ArgumentError, EngramError."""
        pin, driver = self._named(name)
        if pin.mode not in OUTPUTS and not self.is_simulated:
            raise ArgumentError(name, "is an input, which can only be read.")
        most = {"pwm": 100, "adc": 3300}.get(pin.mode, 1)
        number = {"on": most, "off": 0}.get(value, value) if isinstance(value, str) else value
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
            raise ArgumentError(name, "takes on, off%s." % (" or 0 to %d" % most if most > 1 else ""))
        try:
            driver.write(number)
        except REFUSALS as error:
            raise EngramError("%s cannot be set: %s." % (name, error)) from None
        diag.info("pins", "%s is set to %s" % (name, number))
        return _described(pin, driver)

    def is_meant(self, rest: str) -> bool:
        return not pin_config.is_memory_id(rest.partition(" ")[0])

    def command(self, caller, rest: str):
        if not is_owner(caller):
            raise ArgumentError("/pin", "pins are for the owner, in private.")
        name, _, value = rest.partition(" ")
        value = value.strip()
        if value:
            self.set(name, int(value) if len(value) < 6 and text.encode(value).isdigit() else value)
        for pin, driver in [self._named(name)] if name else self._pins:
            kind = pin.mode + (", simulated" if self.is_simulated else "")
            yield "%s: %s (%s, pin %d)" % (pin.name, _described(pin, driver), kind, pin.pin)

    def tools(self) -> list:
        """Return pin_read, and pin_set if there are outputs."""

        def set_one(arguments: dict, _turn) -> tuple:
            name = arguments["pin"]
            value = self.set(name, arguments["value"])
            return {name: value}, "%s is %s" % (name, value)

        def read(arguments: dict, _turn) -> tuple:
            name = arguments.get("pin", "")
            return {pin.name: _described(pin, driver) for pin, driver in self._pins if name in ("", pin.name)}, ""

        pins = {"type": "string", "enum": [pin.name for pin, _ in self._pins]}
        outputs = {"type": "string", "enum": [pin.name for pin, _ in self._pins if pin.mode in OUTPUTS]}
        found = [Tool("pin_read", _READ, object_schema({"pin": pins}, []), read, is_owner, writes=False)]
        if outputs["enum"]:
            schema = object_schema({"pin": outputs, "value": _VALUE}, ["pin", "value"])
            found.append(Tool("pin_set", _SET, schema, set_one, is_owner, writes=True))
        for tool in found:
            tool.is_own = True
        return found


def _read(pin, driver):
    try:
        value = driver.read()
    except REFUSALS:
        return None
    return round(pin.scale[0] * value + pin.scale[1], 2) if pin.scale else value


def _shown(pin, driver):
    value = _read(pin, driver)
    if value is None or pin.mode in ("pwm", "adc"):
        return value
    return "on" if value else "off"


def _described(pin, driver):
    value = _shown(pin, driver)
    if value is None:
        return "could not be read"
    unit = "%" if pin.mode == "pwm" else pin.unit
    return text.dumps(value) + (unit if unit == "%" else " " + unit) if unit else value
