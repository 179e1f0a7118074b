"""What of a model's proposals was refused: how many, and the last reasons."""

from engram.compat import const

_NOTED = const(6)


class Rejections:
    """Counts refusals and keeps the reasons of the last ones; a reason has no word of what people said."""

    def __init__(self):
        self.count = 0
        self.last = []

    def add(self, problem: str) -> None:
        """A proposal was refused."""
        self.count += 1
        self.last.append(problem)
        if len(self.last) > _NOTED:
            self.last.pop(0)

    def status_lines(self):
        """Yield lines on them, for people."""
        if self.count:
            yield "%d proposals of the model were refused; the last ones:" % self.count
            for problem in self.last:
                yield "  " + problem
