"""Mentions on networks that mark them only by the account's nickname in the text."""

import re

_BEHIND_A_NAME = ":, "


def without_mention(text: str, nickname: str) -> tuple[str, bool]:
    """Remove a leading nickname ("engram: hello"); also tell if the nickname is in the text."""
    words = text.lstrip()
    start = words.removeprefix("@")
    rest = start[len(nickname) :]
    if start[: len(nickname)].casefold() == nickname.casefold() and (not rest or rest[0] in _BEHIND_A_NAME):
        return rest.lstrip(_BEHIND_A_NAME), True
    # \b fails here, since a nickname may end in "_" or "]".
    as_a_word = rf"(?<![\w-]){re.escape(nickname)}(?![\w-])"
    return text, re.search(as_a_word, text, re.IGNORECASE) is not None
