"""What a person is to confirm in a later turn before it is done."""

from engram.errors import ArgumentError


class Confirmations:
    """Holds the newest question: the ids that it is about count once the person who was asked has said something."""

    def __init__(self):
        self._pending = None
        self._questions = 0

    def ask(self, refs: list, turn) -> str:
        """Ask in a Turn about some ids; the code that confirms them later."""
        self._questions += 1
        code = "yes-%d" % self._questions
        self._pending = (code, turn.seq, turn.caller, refs)
        return code

    def confirmed(self, code: str, turn) -> list:
        """The ids that a code confirms in a Turn; ArgumentError if it does not yet, or not any more."""
        if not self._pending or self._pending[0] != code or self._pending[2] != turn.caller:
            raise ArgumentError("confirm", "is not known; call memory_forget with a query first.")
        if self._pending[1] == turn.seq:
            raise ArgumentError("confirm", "counts only after the person has answered; ask them first.")
        refs = self._pending[3]
        self._pending = None
        return refs
