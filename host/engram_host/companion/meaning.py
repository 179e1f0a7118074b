"""The vector side as a whole: the embedder, and the work in the background that gives each line its vector."""


class Meaning:
    """The embedder of one companion; `problem` says why searches go by words alone, "" if they do not."""

    def __init__(self) -> None:
        self.problem = ""

    def start(self) -> None:
        """Begin to embed what has no vector yet."""

    async def stop(self) -> None:
        """End that work; what was embedded stays."""

    def told(self) -> str:
        """How it stands, for a person."""
        return "off"
