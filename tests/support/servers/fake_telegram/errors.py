"""A refusal of the service, with the HTTP status and the words that the Bot API answers."""

from collections.abc import Mapping


class ApiError(Exception):
    """The service refuses a call."""

    def __init__(self, code: int, description: str, parameters: Mapping[str, object] | None = None):
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = dict(parameters or {})

    def as_json(self) -> dict[str, object]:
        """The answer's body."""
        body: dict[str, object] = {"ok": False, "error_code": self.code, "description": self.description}
        return {**body, "parameters": self.parameters} if self.parameters else body


def too_many_requests(seconds: int) -> ApiError:
    """The answer to a client that sends too much: it may try again after some seconds."""
    return ApiError(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})


def unparsable(problem: str) -> ApiError:
    """The answer to marks that cannot be parsed."""
    return ApiError(400, f"Bad Request: can't parse entities: {problem}")
