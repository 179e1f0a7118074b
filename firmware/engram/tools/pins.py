"""The pins of a board by name: their values for people, the model's two tools, and the command /pin."""

from collections import namedtuple

from engram import diag, text
from engram.errors import ArgumentError
from engram.tools import pin_config
from engram.tools.own_tool import may_use
from engram.tools.pin_driver import REFUSALS, is_simulated, open_driver
from engram.tools.toolbox import Tool

_OUTPUTS = ("out", "pwm")

_Offer = namedtuple("_Offer", "name description schema")
"""A tool as the model is offered it for one caller."""


def open_pins(table: dict, folder: str) -> "Pins":
    """The pins of config.json, outputs in their safe state; ConfigError if one of them is wrong."""
    simulated = is_simulated()
    found = pin_config.parse_pins(table, () if simulated else pin_config.forbidden_pins(folder))
    return Pins([(pin, open_driver(pin)) for pin in found], simulated)


class Pins:
    """Reads and sets pins; `pins` are pairs of a pin_config.Pin and its driver."""

    def __init__(self, pins: list, simulated: bool):
        self._pins = pins
        self.is_simulated = simulated

    def values(self, only=()) -> dict:
        """The values of pins by name, all unless `only` names some: "on" or "off", or a number; None if one cannot be read."""
        return {pin.name: _read(pin, driver) for pin, driver in self._pins if not only or pin.name in only}

    def number(self, name: str):
        """Return the value of a pin as a number, None if it cannot be read."""
        value = self.values((name,))[name]
        return {"on": 1, "off": 0}.get(value) if isinstance(value, str) else value

    def on_edge(self, name: str, handler, is_rising: bool) -> None:
        """Call a handler when an input changes, or rises; one handler a pin."""
        for pin, driver in self._pins:
            if pin.name == name:
                driver.on_edge(handler, is_rising)

    def make_safe(self) -> None:
        """Give each output its safe state; one that refuses leaves the others safe."""
        for pin, driver in self._pins:
            if pin.mode in _OUTPUTS:
                try:
                    driver.write(pin.safe)
                except REFUSALS as error:
                    diag.error("pins", "%s is not safe: %s" % (pin.name, error))

    def for_caller(self, caller, modes=("out", "pwm", "in", "adc")) -> list:
        """The pins of some modes that a caller may use."""
        return [pin for pin, _ in self._pins if pin.mode in modes and may_use(caller, pin.who, pin.groups)]

    def described(self, pin):
        """The value of one of the pins, with its unit if it has one."""
        value = self.values((pin.name,))[pin.name]
        if value is None:
            return "could not be read"
        unit = "%" if pin.mode == "pwm" else pin.unit
        return text.dumps(value) + (unit if unit == "%" else " " + unit) if unit else value

    def set(self, name: str, value, caller):
        """Set an output to "on", "off", or for pwm per cent; its new value. ArgumentError says what would be right."""
        pin, driver = self._find(name, caller)
        if pin.mode not in _OUTPUTS:
            raise ArgumentError(name, "is an input, which can only be read.")
        return self._write(pin, driver, value)

    def _write(self, pin, driver, value):
        most = 100 if pin.mode == "pwm" else 1
        number = {"on": most, "off": 0}.get(value, value) if isinstance(value, str) else value
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
            raise ArgumentError(pin.name, "takes on%s." % (", off or 0 to 100" if most > 1 else " or off"))
        try:
            driver.write(number)
        except REFUSALS as error:
            raise ArgumentError(pin.name, "cannot be set: %s." % error) from None
        diag.info("pins", "%s is set to %s" % (pin.name, number))
        return self.described(pin)

    def _find(self, name: str, caller) -> tuple:
        for pin, driver in self._pins:
            if pin.name == name and may_use(caller, pin.who, pin.groups):
                return pin, driver
        names = ", ".join([pin.name for pin in self.for_caller(caller)])
        known = "there are " + names if names else "there is none for you here"
        raise ArgumentError("pin", "there is no pin %s; %s." % (text.printable(name)[:40], known))

    # --- the command

    def is_meant(self, rest: str) -> bool:
        """Return True if the text behind /pin is of pins, and not the id of a memory to protect."""
        return not pin_config.is_memory_id(rest)

    def command(self, caller, rest: str):
        """Yield the answer to /pin, /pin NAME and /pin NAME VALUE."""
        name, _, value = rest.partition(" ")
        if not name:
            for pin in self.for_caller(caller):
                yield self._line(pin)
            if not self.for_caller(caller):
                yield "there is no pin for you here"
            return
        if value:
            self._type(name, value.strip(), caller)
        yield self._line(self._find(name, caller)[0])

    def _type(self, name: str, value: str, caller) -> None:
        """Set a pin as a person types it; a simulated input, too, so that what reads it can be tried."""
        number = int(value) if len(value) < 6 and text.encode(value).isdigit() else value
        pin, driver = self._find(name, caller)
        if not self.is_simulated or pin.mode in _OUTPUTS:
            self.set(name, number, caller)
        elif pin.mode == "in":
            self._write(pin, driver, number)
        elif isinstance(number, int):
            driver.write(number)
        else:
            raise ArgumentError(name, "is simulated, and takes millivolts.")

    def _line(self, pin) -> str:
        kind = pin.mode + (", simulated" if self.is_simulated else "")
        note = "; " + pin.note if pin.note else ""
        return "%s: %s (%s, pin %d%s)" % (pin.name, self.described(pin), kind, pin.number, note)


def _read(pin, driver):
    try:
        value = driver.read()
    except REFUSALS:
        return None
    if pin.mode in ("out", "in"):
        return "on" if value else "off"
    if pin.scale:
        return round(pin.scale[0] * value + pin.scale[1], 2)
    return value


class PinTool(Tool):
    """One of the two tools: each caller is offered it with the names of the pins that they may use."""

    def __init__(self, pins: Pins, name: str, description: str, modes):
        self._pins = pins
        self._modes = modes
        self._purpose = description
        self.name = name
        every = self._offer([pin for pin, _ in pins._pins if pin.mode in modes])
        super().__init__(name, every.description, every.schema, self._run, may_use, name == "pin_set")

    def for_caller(self, caller):  # type: ignore[reportIncompatibleMethodOverride]
        """Return what the model is offered for a caller."""
        pins = self._pins.for_caller(caller, self._modes)
        return self._offer(pins) if pins else None

    def _offer(self, pins: list):
        notes = ["%s: %s." % (pin.name, pin.note) for pin in pins if pin.note]
        return _Offer(self.name, " ".join([self._purpose] + notes), self._schema([pin.name for pin in pins]))

    def _schema(self, names: list) -> str:
        value, required = "", "[]"
        if self.name == "pin_set":
            value = ',"value":{"anyOf":[{"type":"string","enum":["on","off"]},{"type":"integer","minimum":0,"maximum":100}]}'
            required = '["pin","value"]'
        schema = '{"type":"object","properties":{"pin":{"type":"string","enum":%s}%s},"required":%s'
        return schema % (text.dumps(names), value, required) + ',"additionalProperties":false}'

    def _run(self, arguments: dict, turn) -> tuple:
        caller, name = turn.caller, arguments.get("pin", "")
        if self.writes:
            value = self._pins.set(name, arguments["value"], caller)
            return {name: value}, "%s is %s" % (name, value)
        pins = [pin for pin in self._pins.for_caller(caller) if name in ("", pin.name)]
        return {pin.name: self._pins.described(pin) for pin in pins}, ""


def tools(pins: Pins) -> tuple:
    """The tools pin_set and pin_read over some pins."""
    set_text = "Set an output of the board: on or off, or per cent for one that dims."
    return (
        PinTool(pins, "pin_set", set_text, _OUTPUTS),
        PinTool(pins, "pin_read", "Read one pin of the board, or all of them.", ("out", "pwm", "in", "adc")),
    )
