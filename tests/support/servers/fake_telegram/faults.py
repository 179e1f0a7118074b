"""Faults on request, and the ledger of all that was received."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .state import CONFLICT
from .text import ApiError

BAD_GATEWAY = b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>\r\n"
"""What the service's front end says when it does not reach the service: no JSON."""


@dataclass(slots=True)
class Fault:
    """What happens to the next `count` calls, of one method only if it is named."""

    kind: str
    method: str = ""
    count: int = 1
    status: int = 502
    seconds: float = 0.0
    error: ApiError | None = None


class Faults:
    """Faults that wait for their calls: each call takes the first that fits. All take `count` and `method`."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self.is_token_refused = False
        """401 to every call from now on."""

    @property
    def waiting(self) -> list[Fault]:
        """Those that have not happened yet, or not as often as asked."""
        return list(self._waiting)

    def flood(self, retry_after: int = 1, **calls: Any) -> None:
        """Answer 429 with retry_after, without handling the call."""
        problem = f"Too Many Requests: retry after {retry_after}"
        self._waiting.append(Fault("error", **calls, error=ApiError(429, problem, retry_after=retry_after)))

    def refuse(self, description: str, **calls: Any) -> None:
        """Answer 400 with words of one's own, without handling the call."""
        self._waiting.append(Fault("error", **calls, error=ApiError(400, f"Bad Request: {description}")))

    def conflict(self, **calls: Any) -> None:
        """Answer getUpdates with 409, as if a second program polled."""
        self._waiting.append(Fault("error", "getUpdates", **calls, error=ApiError(409, CONFLICT)))

    def fail(self, status: int = 502, **calls: Any) -> None:
        """Answer a status with a body of HTML, without handling the call."""
        self._waiting.append(Fault("status", **calls, status=status))

    def cut_before(self, **calls: Any) -> None:
        """Cut the connection before the call is handled: nothing has happened."""
        self._waiting.append(Fault("cut_before", **calls))

    def cut_after(self, **calls: Any) -> None:
        """Cut the connection after the call was handled: the client cannot know that it was."""
        self._waiting.append(Fault("cut_after", **calls))

    def cut_within(self, **calls: Any) -> None:
        """Cut the connection in the middle of the answer's body."""
        self._waiting.append(Fault("cut_within", **calls))

    def delay(self, seconds: float, **calls: Any) -> None:
        """Handle the call at once, and answer after these seconds."""
        self._waiting.append(Fault("delay", **calls, seconds=seconds))

    def clear(self) -> None:
        """Forget all of them, a refused token too."""
        self._waiting.clear()
        self.is_token_refused = False

    def take(self, method: str) -> Fault | None:
        """The fault for a call that has come, which counts as happened."""
        fault = next((each for each in self._waiting if each.method in ("", method)), None)
        if fault is not None:
            fault.count -= 1
            if not fault.count:
                self._waiting.remove(fault)
        return fault


@dataclass(slots=True)
class Call:
    """One call as it came, and how it was answered: `status` is 0 while it is not, and after a cut."""

    order: int
    date: float
    method: str
    arguments: Mapping[str, object]
    status: int = 0
    fault: str = ""
    result: object = field(default=None, repr=False)


class Ledger:
    """All calls."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.by_method: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """How many calls came."""
        return len(self.calls)

    def of_method(self, method: str) -> list[Call]:
        """The calls of one method."""
        return [call for call in self.calls if call.method == method]

    def begin(self, method: str, arguments: Mapping[str, object], date: float) -> Call:
        """Note a call that has come."""
        call = Call(self.total + 1, date, method, arguments)
        self.by_method[method] += 1
        self.calls.append(call)
        return call
