"""Photos and sounds beside the texts that refer to them: thumbnails of a fixed size, and links."""

from collections.abc import Mapping
from dataclasses import dataclass

from engram_host.companion.media.references import caption_of, ids_in
from engram_host.companion.page.fitting import cut_text
from engram_host.companion.store.media.table import StoredMedia

MOST_OF_TEXT = 2

BYTES = 330

_CAPTION = 60
_PHOTO = "image/"


@dataclass(frozen=True)
class ShownMedia:
    """A photo or sound beside a text; `caption` is from the text, or ""."""

    id: str
    is_photo: bool
    caption: str


def media_in(text: str, known: Mapping[str, StoredMedia]) -> list[ShownMedia]:
    """Return known media of a text, up to MOST_OF_TEXT."""
    if not known:
        return []
    named = [each for each in ids_in(text) if each in known][:MOST_OF_TEXT]
    caption = cut_text(caption_of(text[:_LONGEST]), _CAPTION) if named else ""
    return [ShownMedia(each, known[each].type.startswith(_PHOTO), caption) for each in named]


_LONGEST = 4000
