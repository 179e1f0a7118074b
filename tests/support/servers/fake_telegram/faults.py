"""Faults on request, and the ledger of all that was received."""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from .errors import ApiError, too_many_requests

KINDS = ("status", "flood", "cut_before", "cut_after", "cut_within", "delay", "conflict", "refusal")
_LEDGER = 2_000
"""Calls that are kept to look at, the newest; protects the memory of a server that runs for days."""
BAD_GATEWAY = (
    b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n"
)
"""What the service's front end says when it does not reach the service: no JSON."""


@dataclass(slots=True)
class Fault:
    """What happens to the next `count` calls, of one method only if it is named."""

    kind: str
    count: int = 1
    method: str = ""
    status: int = 502
    retry_after: int = 1
    seconds: float = 0.0
    description: str = ""

    def error(self) -> ApiError | None:
        """The refusal that it answers with, in the service's form; None for the other kinds."""
        if self.kind == "flood":
            return too_many_requests(self.retry_after)
        if self.kind == "refusal":
            return ApiError(400, f"Bad Request: {self.description}")
        if self.kind == "conflict":
            return ApiError(
                409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
            )
        return None


class Faults:
    """Faults that wait for their calls: each call takes the first that fits."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self.is_token_refused = False
        """401 to every call from now on."""

    @property
    def waiting(self) -> list[Fault]:
        """Those that have not happened yet, or not as often as asked."""
        return list(self._waiting)

    def add(self, fault: Fault) -> None:
        """Let a fault happen. ValueError if there is no such kind, or it is for no call."""
        if fault.kind not in KINDS or fault.count < 1:
            raise ValueError(f"a fault is one of {', '.join(KINDS)}, for one call or more")
        self._waiting.append(fault)

    def flood(self, retry_after: int = 1, *, count: int = 1, method: str = "") -> None:
        """Answer 429 with retry_after, without handling the call."""
        self.add(Fault("flood", count, method, retry_after=retry_after))

    def fail(self, status: int = 502, *, count: int = 1, method: str = "") -> None:
        """Answer a status with a body of HTML, without handling the call."""
        self.add(Fault("status", count, method, status=status))

    def refuse(self, description: str, *, count: int = 1, method: str = "") -> None:
        """Answer 400 with words of one's own, without handling the call."""
        self.add(Fault("refusal", count, method, description=description))

    def cut_before(self, *, count: int = 1, method: str = "") -> None:
        """Cut the connection before the call is handled: nothing has happened."""
        self.add(Fault("cut_before", count, method))

    def cut_after(self, *, count: int = 1, method: str = "") -> None:
        """Cut the connection after the call was handled: the client cannot know that it was."""
        self.add(Fault("cut_after", count, method))

    def cut_within(self, *, count: int = 1, method: str = "") -> None:
        """Cut the connection in the middle of the answer's body."""
        self.add(Fault("cut_within", count, method))

    def delay(self, seconds: float, *, count: int = 1, method: str = "") -> None:
        """Handle the call at once, and answer after these seconds of the server's clock."""
        self.add(Fault("delay", count, method, seconds=seconds))

    def conflict(self, *, count: int = 1) -> None:
        """Answer getUpdates with 409, as if a second program polled."""
        self.add(Fault("conflict", count, "getUpdates"))

    def clear(self) -> None:
        """Forget all of them, a refused token too."""
        self._waiting.clear()
        self.is_token_refused = False

    def take(self, method: str) -> Fault | None:
        """The fault for a call that has come, which counts as happened."""
        for fault in self._waiting:
            if not fault.method or fault.method.lower() == method.lower():
                fault.count -= 1
                if not fault.count:
                    self._waiting.remove(fault)
                return fault
        return None


@dataclass(slots=True)
class Call:
    """One call as it came, and how it was answered: `status` is 0 while it is not, and after a cut."""

    order: int
    date: float
    method: str
    arguments: Mapping[str, object]
    status: int = 0
    description: str = ""
    fault: str = ""
    is_handled: bool = False
    result: object = field(default=None, repr=False)

    def as_json(self) -> dict[str, object]:
        return asdict(self)


class Ledger:
    """All calls, the newest kept, and how many there were of each method and status."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=_LEDGER)
        self.total = 0
        self.by_method: Counter[str] = Counter()
        self.by_status: Counter[int] = Counter()

    @property
    def calls(self) -> list[Call]:
        return list(self._calls)

    def of_method(self, method: str) -> list[Call]:
        """The calls of one method."""
        return [call for call in self._calls if call.method.lower() == method.lower()]

    def begin(self, method: str, arguments: Mapping[str, object], date: float) -> Call:
        """Note a call that has come."""
        self.total += 1
        call = Call(self.total, date, method, arguments)
        self.by_method[method] += 1
        self._calls.append(call)
        return call

    def finish(self, call: Call, status: int, description: str = "") -> None:
        """Note how it was answered."""
        call.status, call.description = status, description
        self.by_status[status] += 1
