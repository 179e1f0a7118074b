"""What each view of the page has to be, whatever people, models and files wrote."""

import re

from page_client import Parsed

_PHOTO = re.compile(r"/(v1|me)/boards/[a-z0-9-]+/media/[0-9a-f]{16}")
"""The only pictures of a view: those that the companion keeps."""

VIEW_BYTES = 60 * 1024
"""Of a view, beside files that a browser keeps."""

EVIL = "<img src=x onerror=alert(1)>\"'{{7*7}}</script><script>alert(1)</script>&amp;"
"""A text that is markup, a script, a template and more where it is not escaped."""


def check_is_own(view: Parsed) -> None:
    """Nothing that the policy of the page would have to stop: no script or style inside, no handler, no other site."""
    for tag, attributes in view.elements:
        handlers = [name for name in attributes if name.startswith("on") or name == "style"]
        assert not handlers, (tag, attributes)
        assert tag not in ("style", "iframe", "object", "embed", "base"), (tag, attributes)
        if tag == "img":
            assert _PHOTO.fullmatch(attributes.get("src", "")), attributes
        if tag == "script":
            assert attributes.get("src", "").startswith("/static/"), attributes
        for name in ("src", "href", "action", "formaction"):
            address = attributes.get(name, "")
            assert not address.startswith(("//", "javascript:", "data:")), (tag, address)
            assert "://" not in address or tag == "a", (tag, address)
    assert not any(script.strip() for script in view.scripts), view.scripts
