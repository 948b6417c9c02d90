"""A headless Chromium, driven over a pipe by its own protocol: no package is needed for it."""

import json
import os
import select
import shutil
import subprocess
import time

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
SECONDS = 60
"""How long an answer may take before the browser is given up."""


class NoBrowser(Exception):
    """It does not start."""


class Browser:
    """One page in one window. `complaints` are the errors and warnings of its console, `fetched` what it asked the network for.

    Parameters
    ----------
    profile : path
        An empty folder for what the browser wants to keep.
    """

    def __init__(self, profile):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        options += ["--disable-background-networking", f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'  # the pipe's ends have these numbers there
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", shell, "bash", PROGRAM, *options],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._received, self._number, self._session = b"", 0, None
        self._events: list[dict] = []

    def __enter__(self):
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except (OSError, RuntimeError) as error:
            self.__exit__()
            raise NoBrowser(str(error)) from error
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait(SECONDS)
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, **parameters) -> dict:
        """Send a command and wait for its answer. Raises RuntimeError if the browser refuses it or is silent."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        answer = self._wait(lambda received: received.get("id") == self._number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _wait(self, wanted) -> dict:
        """The next message that is wanted; the events before it are kept."""
        until = time.monotonic() + SECONDS
        while True:
            while b"\0" in self._received:
                text, _, self._received = self._received.partition(b"\0")
                received = json.loads(text)
                if "method" in received:
                    self._events.append(received)
                if wanted(received):
                    return received
            if not select.select([self._in], [], [], max(0, until - time.monotonic()))[0]:
                raise RuntimeError("the browser does not answer")
            part = os.read(self._in, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self._received += part

    def look(self, width: int = 1280, scheme: str = "light", media: str = "screen") -> None:
        """How wide the window is, in CSS pixels, which colours the reader prefers, and whether it is for paper."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def open(self, url: str) -> None:
        """Load a page, and wait until all of it is there."""
        self._events.clear()
        self.call("Page.navigate", url=url)
        if not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._wait(lambda received: received.get("method") == "Page.loadEventFired")
        self.run("document.fonts.ready.then(() => true)")

    def run(self, script: str):
        """The value of an expression of JavaScript in the page, or of what it promises."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings since the page was opened."""
        told = []
        for event in self._events:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                told.append(parameters["exceptionDetails"]["text"])
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("warning", "error"):
                told.append(parameters["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("warning", "error"):
                told.append(str(parameters["args"]))
        return told

    @property
    def fetched(self) -> list[str]:
        """What was asked for since the page was opened, but for what the page has in itself."""
        sent = [event["params"]["request"]["url"] for event in self._events if event["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith("data:")]
