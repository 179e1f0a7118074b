"""How far the companion's copy of the senses is: all that stays in RAM of engram.link.sense_copy."""


class SenseProgress:
    """How far the companion's copy of the senses is. `told` is the version that it has in full, `begun` the one that it gets;
    `have` is what it has of that, (seq, check) of the newest block of each level, None before it was asked. It has the events
    up to `event`, and all of the version `told_events`.
    """

    def __init__(self):
        self.told = None
        self.begun = None
        self.have = None
        self.event = 0
        self.told_events = -1
        self.state = None

    def is_due(self, sync, senses, events) -> bool:
        """True if there is something to tell the companion."""
        state = sync.sense_state
        if state is not None and self.state != state:
            # It has not heard of them since the start, or has lost some.
            self.told = self.have = None
            self.told_events, self.state = -1, state
        return state is not None and self.told != (senses.version, events.version)

    def take(self, sync, have, state: str) -> None:
        """Note what the companion has after a message."""
        self.have = have
        self.state = sync.sense_state = state

    def end(self) -> None:
        """Everything has been sent."""
        self.told, self.have = self.begun, None
