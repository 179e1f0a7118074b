"""Who a message of a group means, on networks where a mention is nothing but the account's nickname in the text."""

import re

_BEHIND_A_NAME = ":, "


def without_mention(text: str, nickname: str) -> tuple[str, bool]:
    """A message without the nickname at its beginning ("engram: hello"), and whether it has the nickname as a word."""
    words = text.lstrip()
    start = words.removeprefix("@")
    rest = start[len(nickname) :]
    if start[: len(nickname)].casefold() == nickname.casefold() and (not rest or rest[0] in _BEHIND_A_NAME):
        return rest.lstrip(_BEHIND_A_NAME), True
    # A nickname may end in signs such as "_" or "]", so that \b is of no use.
    as_a_word = rf"(?<![\w-]){re.escape(nickname)}(?![\w-])"
    return text, re.search(as_a_word, text, re.IGNORECASE) is not None
