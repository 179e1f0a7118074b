"""A headless Chromium over a pipe: opens views, types, clicks, and says what the page and its console say.

It speaks the protocol of the developer tools on two file descriptors, so it needs neither a driver nor a port.
"""

import base64
import contextlib
import itertools
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import get_chromium
from waiting import SECONDS, wait_until

HURRY = 10
"""How many times shorter the timers of a view are that is in a hurry."""

_FLAGS = (
    "--headless",
    "--no-sandbox",  # it opens the page of a companion under test only, as whoever runs the tests, who may be root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--remote-debugging-pipe",
    "--hide-scrollbars",
    "--allow-pre-commit-input",  # keys and clicks that come before the first picture of a view are dropped else
    "--force-prefers-reduced-motion",  # what scrolls smoothly would be somewhere else by the time of a click
    "--window-size=1024,800",
)


class BrowserFailed(Exception):
    """The browser did not do what it was asked for."""


def script(name: str) -> str:
    """Return a script for views that is a file of this folder."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def find_chromium() -> Path | None:
    """The Chromium that `make test` has found or fetched; None where there is none."""
    return get_chromium.COMMAND if get_chromium.usable() else None


class Chromium:
    """One browser, with one tab at first."""

    def __init__(self, command: Path):
        self._folder = tempfile.TemporaryDirectory(prefix="engram-chromium-", ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        words = [str(command), *_FLAGS, f"--user-data-dir={self._folder.name}", "about:blank"]
        # The protocol's descriptors are 3 and 4, whatever they are here.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "chromium", *words],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(OSError, BrowserFailed):
            self.call("Browser.close")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, 9)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._folder.cleanup()

    def tab(self) -> "Tab":
        """Open a tab with cookies of its own."""
        return self.tab_in(self.call("Target.createBrowserContext")["browserContextId"])

    def tab_in(self, context: str) -> "Tab":
        """Open a tab that shares the cookies of a context."""
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Tab(self, session, context)

    def close_context(self, context: str) -> None:
        """Close all tabs that share a context, and forget what happened."""
        self.call("Target.disposeBrowserContext", browserContextId=context)
        self._events.clear()

    def close_others(self, context: str, session: str) -> None:
        """Close all tabs that share a context but one, and forget what happened."""
        kept = self.call("Target.getTargetInfo", session)["targetInfo"]["targetId"]
        for each in self.call("Target.getTargets")["targetInfos"]:
            if each.get("browserContextId") == context and each["targetId"] != kept:
                self.call("Target.closeTarget", targetId=each["targetId"])
        self._events.clear()

    def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Ask for something; its result. BrowserFailed."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while True:
            for answer in self._receive(end):
                if answer.get("id") != number:
                    continue
                if "error" in answer:
                    raise BrowserFailed(f"{method}: {answer['error']}")
                return answer["result"]

    def events(self, method: str, session: str) -> list[dict[str, Any]]:
        """What happened in a tab so far."""
        return [
            each["params"] for each in self._events if each["method"] == method and each.get("sessionId") == session
        ]

    def _receive(self, end: float) -> list[dict[str, Any]]:
        """The next messages; events are kept. BrowserFailed."""
        if not select.select([self._read], [], [], max(0.0, end - time.monotonic()))[0]:
            raise BrowserFailed(f"the browser said nothing for {SECONDS:.0f} seconds.")
        data = os.read(self._read, 1 << 20)
        if not data:
            raise BrowserFailed("the browser has ended.")
        *whole, self._buffer = (self._buffer + data).split(b"\0")
        found = [json.loads(each) for each in whole]
        self._events += [each for each in found if "method" in each]
        return found


class Tab:
    """A tab of a browser."""

    def __init__(self, browser: Chromium, session: str, context: str):
        self._browser = browser
        self._session = session
        self._context = context
        self._hurrying = ""
        for name in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{name}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something in this tab."""
        return self._browser.call(method, self._session, **parameters)

    def open(self, address: str) -> None:
        """Open an address, and wait until it is loaded."""
        found = self.call("Page.navigate", url=address)
        if found.get("errorText"):
            raise BrowserFailed(f"{address}: {found['errorText']}")
        self.wait("the view is loaded", "document.readyState === 'complete' && location.href !== 'about:blank'")

    def another(self) -> "Tab":
        """Open another tab of the same person, with the same cookies."""
        return self._browser.tab_in(self._context)

    def hurry(self) -> None:
        """Let views that are opened from now on wait shorter before they look again."""
        if self._hurrying:
            return
        script = f"setTimeout = ((wait) => (act, ms, ...more) => wait(act, ms / {HURRY}, ...more))(setTimeout)"
        self._hurrying = self.call("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]

    def is_alive(self) -> bool:
        """Whether it answers."""
        try:
            return self.run("1") == 1
        except BrowserFailed:
            return False

    def reset(self, empty: str) -> None:
        """Make it as a tab of somebody who opens a browser for the first time, and show the empty page at this address.

        A new tab takes four times as long, and so does about:blank: the browser starts a process for each.
        """
        if self._hurrying:
            self.call("Page.removeScriptToEvaluateOnNewDocument", identifier=self._hurrying)
            self._hurrying = ""
        self.call("Emulation.setScriptExecutionDisabled", value=False)
        self.run("location.protocol === 'http:' && sessionStorage.clear()")
        self.call("Page.navigate", url=empty)
        self.wait("it is empty", f"location.href === {json.dumps(empty)}")
        self._browser.call("Storage.clearCookies", browserContextId=self._context)
        self.call("Page.resetNavigationHistory")
        self.call("Emulation.clearDeviceMetricsOverride")
        self.call("Emulation.setEmulatedMedia", media="", features=[])
        self.call("Emulation.setTimezoneOverride", timezoneId="")
        self._browser.close_others(self._context, self._session)

    def close_alone(self) -> None:
        """Close it, and leave the others of the same person open."""
        self.call("Page.close")

    def close(self) -> None:
        """Close it, with all others of the same person."""
        self._browser.close_context(self._context)

    def back(self) -> None:
        """Press the browser's back button."""
        history = self.call("Page.getNavigationHistory")
        self.call("Page.navigateToHistoryEntry", entryId=history["entries"][history["currentIndex"] - 1]["id"])

    def run(self, script: str) -> Any:
        """The value of an expression. BrowserFailed if it raises."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise BrowserFailed(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait(self, what: str, script: str, seconds: float = SECONDS) -> None:
        """Wait until an expression gives something true. BrowserFailed."""
        wait_until(lambda: f"{what}; the view says {self.text()[:2000]!r}", lambda: self._is_so(script), seconds)

    def _is_so(self, script: str) -> bool:
        try:
            # An element has no value that could be given.
            return self.run(f"document.readyState !== 'loading' && !!({script})")
        except BrowserFailed:
            return False  # the view has just been left for another one

    def text(self, selector: str = "body") -> str:
        """The text that a person sees of an element."""
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def fill(self, selector: str, text: str) -> None:
        """Type a text into a field, in place of what is there."""
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        self.run(f"document.querySelector({json.dumps(selector)}).value = ''")
        self.call("Input.insertText", text=text)

    def choose_file(self, selector: str, path: Path) -> None:
        """Choose a file in a field for one, as in the dialog of the browser."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", files=[str(path)], nodeId=node)

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press a key, such as Tab or Enter; modifiers: 2 is Ctrl, 8 is Shift."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}
        key_text = {"Enter": "\r", " ": " "}.get(key, "")
        fields = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key], "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=key_text, **fields)
        self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    def click(self, selector: str) -> None:
        """Click on an element where it stands."""
        with self.held(selector):
            pass

    @contextlib.contextmanager
    def held(self, selector: str) -> Iterator[None]:
        """Press the mouse on an element where it stands, and let it go in the end."""
        where = {**self._place(selector), "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **where)
        yield
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **where)

    def point(self, selector: str) -> None:
        """Move the pointer to an element."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **self._place(selector))

    def _place(self, selector: str) -> dict[str, float]:
        # Scrolled smoothly, it would be somewhere else by the time of the click.
        scroll = "e.scrollIntoView({block: 'center', behavior: 'instant'});"
        return self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); {scroll} "
            "const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()"
        )

    def size(self, width: int, height: int = 800, *, dark: bool = False) -> None:
        """How large the window is, and whether the person prefers dark colours."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def without_script(self) -> None:
        """Run no script of a page from now on."""
        self.call("Emulation.setScriptExecutionDisabled", value=True)

    def with_script(self) -> None:
        """Run the scripts of pages again."""
        self.call("Emulation.setScriptExecutionDisabled", value=False)

    def screenshot(self, path: Path, *, is_whole: bool = True) -> None:
        """A picture of the whole view, or of what of it fits into the window."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=is_whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def complaints(self) -> list[str]:
        """What the console says of errors: scripts that failed, what the policy stopped, what was not found."""
        self.run("1")  # so that what happened before is here
        said = [
            each["exceptionDetails"]["text"] for each in self._browser.events("Runtime.exceptionThrown", self._session)
        ]
        entries = [each["entry"] for each in self._browser.events("Log.entryAdded", self._session)]
        return said + [each["text"] for each in entries if each["level"] in ("error", "warning")]

    def requested(self) -> list[str]:
        """All addresses that were asked for."""
        events = self._browser.events("Network.requestWillBeSent", self._session)
        return [each["request"]["url"] for each in events]
