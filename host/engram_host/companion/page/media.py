"""Photos and sounds beside the texts that name them: thumbnails of a fixed size, and links."""

from collections.abc import Mapping
from dataclasses import dataclass

from engram_host.companion.media.references import caption_of, ids_in
from engram_host.companion.page.fitting import cut_text
from engram_host.companion.store.media.table import StoredMedia

MOST_OF_TEXT = 2
"""Shown beside one text: bounds the view."""

BYTES = 330
"""What one takes as HTML, about."""

_CAPTION = 60
_PHOTO = "image/"


@dataclass(frozen=True)
class ShownMedia:
    """A photo or a sound beside a text; `caption` is what the text says of it, "" if nothing."""

    id: str
    is_photo: bool
    caption: str


def media_in(text: str, known: Mapping[str, StoredMedia]) -> list[ShownMedia]:
    """What a text names of known media, as far as it is shown."""
    if not known:
        return []
    named = [each for each in ids_in(text) if each in known][:MOST_OF_TEXT]
    caption = cut_text(caption_of(text[:_LONGEST]), _CAPTION) if named else ""
    return [ShownMedia(each, known[each].type.startswith(_PHOTO), caption) for each in named]


_LONGEST = 4000
"""Characters of a text that a caption is made of."""
