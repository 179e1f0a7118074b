"""The recorded session of the README is made from a page whose examples are played."""

from xml.etree import ElementTree

import session_svg
from pages import read


def test_the_picture_is_made_from_the_session_of_its_page():
    made = session_svg.picture(session_svg.session(session_svg.PAGE.read_text(encoding="utf-8")))
    assert session_svg.PICTURE.read_text(encoding="utf-8") == made, "python3 tools/build/session_svg.py makes it again"


def test_the_picture_shows_every_line_of_the_session():
    texts = ElementTree.fromstring(session_svg.picture(["$ make run", "> a < b & c"])).findall("{*}text")
    assert [text.text for text in texts] == ["$ make run", "> a < b & c"]


def test_the_readme_shows_the_picture():
    assert f"]({session_svg.PICTURE.relative_to(session_svg.ROOT)})" in read("README.md")
