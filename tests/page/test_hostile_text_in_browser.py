"""Nothing that a person, a model, a board or a file has written becomes a part of a view but its text, in any field."""

from urllib.parse import quote, urlsplit

import pytest

from chromium import Tab
from extent import extent
from hostile_texts import ELSEWHERE, LONG, OWNED
from houses import House
from page_views import VIEWS, PageView

FOREIGN = """\
(() => {
  const found = window.owned ? ["a script ran"] : [];
  const never = "img, iframe, object, embed, base, video, audio, math, style, frame, applet, template, svg script";
  for (const each of document.querySelectorAll(never)) found.push(each.outerHTML.slice(0, 200));
  for (const each of document.querySelectorAll("*")) {
    for (const { name, value } of each.attributes) {
      if (/^on|^style$|^srcdoc$/.test(name)) found.push(`${name}=${value}`);
      if (!["href", "src", "action", "formaction", "data", "xlink:href", "content"].includes(name)) continue;
      if (name === "content" && !each.httpEquiv) continue;
      const to = new URL(value, location.origin);
      const leads = each.matches("a[rel~=noopener][rel~=nofollow]") && /^(https?|mailto):$/.test(to.protocol);
      if (to.origin !== location.origin && !leads) found.push(`${each.tagName} ${name}=${value}`);
    }
  }
  return found;
})()"""


REFUSED = "Failed to load resource: the server responded with a status of 4"
"""What the console says of a view that says what is wrong with its address."""


def check_is_own(tab: Tab) -> None:
    """Nothing in the view is somebody else's, nothing of it ran or was stopped by the policy, no other site was asked."""
    assert tab.run(FOREIGN) == []
    assert [each for each in tab.complaints() if not each.startswith(REFUSED)] == []
    assert [address for address in tab.requested() if urlsplit(address).hostname == ELSEWHERE] == []


@pytest.mark.parametrize("shown", [each for each in VIEWS if each.status == 200], ids=lambda each: each.name)
def test_a_view_of_hostile_texts_is_its_own(hostile_house: House, tab: Tab, shown: PageView):
    hostile_house.open(tab, shown)
    check_is_own(tab)
    assert tab.run("document.querySelectorAll('main h1').length") == 1
    assert tab.run("getComputedStyle(document.querySelector('main h1')).visibility") == "visible"


@pytest.mark.shortened
@pytest.mark.parametrize("shown", extent(VIEWS, VIEWS[::3]), ids=lambda each: each.name)
def test_hostile_parameters_of_an_address_are_text(house: House, tab: Tab, shown: PageView):
    evil = quote(LONG[1][:60])
    path, _, query = shown.address(house.boards.places).partition("?")
    names = {each.partition("=")[0] for each in query.split("&") if each} | {"find", "lang", "theme", "next", "evil"}
    house.sign_in(tab, shown)
    tab.open(house.url + path + "?" + "&".join(f"{name}={evil}" for name in sorted(names)))
    assert tab.run(FOREIGN) == []


@pytest.mark.shortened
@pytest.mark.parametrize("evil", extent(LONG, LONG[1:2]), ids=lambda each: str(LONG.index(each)))
def test_what_is_typed_into_any_field_is_text(house: House, tab: Tab, evil: str):
    """Each field of each form that finds something; what is sent to boards is tried by the hostile household."""
    typed = ":not([type=hidden], [type=date], [type=month], [type=number], [type=checkbox], [type=radio])"
    fields = f"form[method=get] input{typed}"
    seen: set[str] = set()
    for shown in VIEWS:
        house.open(tab, shown)
        found = tab.run(f"[...document.querySelectorAll({fields!r})].map((each) => each.form.action + ' ' + each.name)")
        for number, field in enumerate(found):
            if field in seen:
                continue
            seen.add(field)
            house.open(tab, shown)
            tab.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            tab.run(f"document.querySelectorAll({fields!r})[{number}].focus()")
            tab.call("Input.insertText", text=evil)
            tab.run("window.before = true, document.activeElement.form.noValidate = true")
            tab.run("document.activeElement.form.requestSubmit()")
            tab.wait(
                "the answer is there",
                "!window.before && document.readyState === 'complete' && document.querySelector('main h1')",
            )
            check_is_own(tab)


def test_the_check_finds_what_is_foreign(house: House, tab: Tab):
    tab.open(house.url)
    tab.run(f"document.querySelector('main').append(new Image()), {OWNED} = 1")
    assert len(tab.run(FOREIGN)) == 2
