#!/usr/bin/env python3
"""Makes the pictures of the page in the documentation, of a made-up household at a fixed time.

    screenshots.py            writes the four pictures in docs/guides/page
    screenshots.py FOLDER     writes pictures of all views into a folder, to be looked at: wide, narrow, light and dark

Status 1 with a sentence where there is no Chromium, or a server does not start.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[3] / name)
    for name in ("host", "firmware", "tools/setup", "tools/build", "tools/benchmarks", "tests/support")
)
sys.path.extend(str(Path(__file__).resolve().parents[1] / name) for name in ("companion", "firmware", "page"))

from chromium import Chromium, Tab, find_chromium
from household import fill_household, plainly, write_folders
from page_views import VIEWS
from peers import free_port
from server_process import CompanionProcess, ServerFailed

ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "docs" / "guides" / "page"

NOW = 1_810_375_200
"""When the pictures are taken: 15 May 2027, 10:00 UTC."""

ZONE = "Europe/Berlin"
"""Of the browser: that of the household's boards."""

MOST_BYTES = 150_000
"""Of a picture in the documentation."""

WIDE, NARROW = 1100, 360


@dataclass(frozen=True)
class Picture:
    """A picture of a view, so large; of a chat its end."""

    view: str
    width: int = WIDE
    height: int = 720
    is_dark: bool = False


SHOWN = (
    Picture("boards", height=460),
    Picture("memories", is_dark=True),
    Picture("search-found"),
    Picture("chat", NARROW, 780),
)


class DemoCompanion(CompanionProcess):
    """A companion at the time of the pictures."""

    def command(self) -> tuple[list[str], dict[str, str]]:
        words, variables = super().command()
        place = words.index("-m")
        words[place : place + 2] = [str(Path(__file__).with_name("demo_clock.py")), str(NOW)]
        return words, variables


@dataclass(frozen=True)
class Demo:
    """The address of the companion, and the values for braces in the paths of views."""

    url: str
    places: dict[str, str]


@contextmanager
def open_demo(folder: Path) -> Iterator[Demo]:
    """A companion with the household; ServerFailed."""
    home = folder / "home"
    write_folders(home, folder / "notes")
    with DemoCompanion(home, free_port()) as companion:
        places = fill_household(companion, NOW, plainly).places
        yield Demo(companion.url, places)


def take(tab: Tab, demo: Demo, picture: Picture, path: Path, *, is_whole: bool = False, language: str = "en") -> None:
    """Take a picture of a view as it is once its script has run."""
    tab.call("Emulation.setTimezoneOverride", timezoneId=ZONE)
    tab.size(picture.width, picture.height, dark=picture.is_dark)
    view = next(view for view in VIEWS if view.name == picture.view)
    tab.open(demo.url + view.address(demo.places, lang=language))
    tab.wait(
        "times are those of the zone",
        "![...document.querySelectorAll('time')].some((t) => t.textContent.endsWith('UTC'))",
    )
    tab.screenshot(path, is_whole=is_whole)


def take_all(browser: Chromium, demo: Demo, folder: Path) -> None:
    """Pictures of all views: wide and light, narrow and dark, and in Chinese."""
    folder.mkdir(parents=True, exist_ok=True)
    for view in VIEWS:
        tab = browser.tab()
        take(tab, demo, Picture(view.name), folder / f"{view.name}.png", is_whole=True)
        narrow = Picture(view.name, 320, is_dark=True)
        take(tab, demo, narrow, folder / f"{view.name}-narrow-dark.png", is_whole=True, language="zh")
        tab.close()
    print(f"{2 * len(VIEWS)} pictures are in {folder}")


def take_shown(tab: Tab, demo: Demo) -> int:
    """The pictures of the documentation; how many of them are too large."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    too_large = 0
    for picture in SHOWN:
        path = PICTURES / f"{picture.view}.png"
        take(tab, demo, picture, path)
        size = path.stat().st_size
        too_large += size > MOST_BYTES
        print(f"{path.relative_to(ROOT)}: {size} bytes{', too many' if size > MOST_BYTES else ''}")
    return too_large


def main(arguments: list[str]) -> int:
    """Make the pictures."""
    parser = argparse.ArgumentParser(description="Make the pictures of the page in the documentation.")
    parser.add_argument("folder", nargs="?", type=Path, help="make pictures of all views in this folder instead")
    given = parser.parse_args(arguments)
    command = find_chromium()
    if command is None:
        print("screenshots: there is no Chromium: tools/setup/get_chromium.py says why.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="engram-demo-") as folder:
        try:
            with open_demo(Path(folder)) as demo, Chromium(command) as browser:
                if given.folder:
                    take_all(browser, demo, given.folder)
                    return 0
                return int(take_shown(browser.tab(), demo) > 0)
        except ServerFailed as problem:
            print(f"screenshots: {problem}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
