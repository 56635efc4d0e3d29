"""A headless Chromium over its debugging pipe: loads a page, runs words in it, keeps what it
complains of and asks for. Needs no package, only a browser on the PATH."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)


def find():
    """The browser's path, None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page. complaints: errors and warnings of the console, of the security policy, of scripts;
    requests: every URL asked for; dialogs: every alert() and its like."""

    def __init__(self, width=1280, height=900):
        self.complaints, self.requests, self.dialogs = [], [], []
        self._answers, self._count, self._rest = {}, 0, b""
        self._folder = tempfile.mkdtemp(prefix="feedrate-browser-")
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # Away from 3 and 4, where the browser wants its ends: one must not be written over by the
        # other.
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (theirs_in, theirs_out)]
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}',
                "browser",
                find(),
                *OPTIONS,
                *sandbox,
                f"--user-data-dir={self._folder}",
                f"--window-size={width},{height}",
                "about:blank",
            ],
            pass_fds=ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (theirs_in, theirs_out, *ends):
            os.close(fd)
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._folder, ignore_errors=True)

    def size(self, width, height, scale=1, phone=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=phone,
        )

    def prefer(self, scheme):
        """ "light" or "dark"."""
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def load(self, path, most=60):
        self._loaded = False
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        end = time.monotonic() + most
        while not self._loaded:
            self._read(end)
        self.run("new Promise((done) => setTimeout(done, 300))")

    def run(self, expression, most=300):
        """The value of a JavaScript expression (of a promise, what comes of it)."""
        answer = self.call(
            "Runtime.evaluate", most, expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(
                answer["exceptionDetails"].get("exception", {}).get("description", str(answer))
            )
        return answer["result"].get("value")

    def picture(self, path, whole=False):
        more = {}
        if whole:
            box = self.call("Page.getLayoutMetrics")["cssContentSize"]
            more = {"captureBeyondViewport": True, "clip": dict(box, scale=1)}
        with open(path, "wb") as file:
            file.write(
                base64.b64decode(self.call("Page.captureScreenshot", format="png", **more)["data"])
            )

    def print(self, path):
        with open(path, "wb") as file:
            file.write(
                base64.b64decode(
                    self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)[
                        "data"
                    ]
                )
            )

    def call(self, method, most=120, **parameters):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        end = time.monotonic() + most
        while message["id"] not in self._answers:
            self._read(end)
        answer = self._answers.pop(message["id"])
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def _read(self, end):
        if not select.select([self._in], [], [], max(end - time.monotonic(), 0))[0]:
            raise AssertionError("the browser does not answer")
        piece = os.read(self._in, 1 << 20)
        if not piece:
            raise AssertionError("the browser has ended")
        *whole, self._rest = (self._rest + piece).split(b"\0")
        for message in map(json.loads, whole):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self._event(message["method"], message["params"])

    def _event(self, name, what):
        if name == "Page.loadEventFired":
            self._loaded = True
        elif name == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif name == "Network.webSocketCreated":
            self.requests.append(what["url"])
        elif name == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(what["exceptionDetails"])[:600])
        elif name == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(what["args"])[:600])
        elif name == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.complaints.append(json.dumps(what["entry"])[:600])
        elif name == "Page.javascriptDialogOpening":
            self.dialogs.append(what["message"])
            self._count += 1
            os.write(
                self._out,
                json.dumps(
                    {
                        "id": self._count,
                        "method": "Page.handleJavaScriptDialog",
                        "sessionId": self._session,
                        "params": {"accept": True},
                    }
                ).encode()
                + b"\0",
            )
