"""A headless Chromium, driven through its debugging pipe: no packages needed."""

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATH = next((p for p in map(shutil.which, NAMES) if p), None)


class Browser:
    """One page in a browser; use it in a with statement.

    `errors` collects exceptions, console errors, dialogs and requests for other files.
    """

    def __init__(self, path=PATH):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        arguments = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                     "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--user-data-dir={self.folder.name}", "about:blank"]  # fmt: skip

        # The browser reads from descriptor 3 and writes to 4.
        script = f'exec "$0" "$@" 3<&{to_read} 4>&{back_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, path, *arguments], pass_fds=(to_read, back_write),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(back_write)
        self.numbers, self.buffer, self.errors, self.session = itertools.count(1), b"", [], None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.folder.cleanup()

    def call(self, method, **parameters):
        """Call a method of the DevTools protocol and return its result."""
        number = self.send(method, **parameters)
        while True:
            answer = self.read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def send(self, method, **parameters):
        message = {"id": next(self.numbers), "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        return message["id"]

    def read(self):
        while b"\0" not in self.buffer:
            part = os.read(self.back, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        kind, what = event.get("method"), event.get("params", {})
        if kind == "Page.javascriptDialogOpening":
            self.errors.append(f"dialog: {what['message']}")
            self.send("Page.handleJavaScriptDialog", accept=True)
        elif kind == "Runtime.exceptionThrown":
            self.errors.append(f"exception: {what['exceptionDetails']}")
        elif kind == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.errors.append(f"log: {what['entry']['text']}")
        elif kind == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
            self.errors.append(f"console: {what['args']}")
        elif kind == "Network.requestWillBeSent" and what.get("type") != "Document":
            self.errors.append(f"request: {what['request']['url'][:80]}")

    def open(self, path, width=1200, height=900):
        """Open a file in a window of a size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        self.call("Page.navigate", url=path.as_uri())
        for _ in range(100):
            if self.value("document.readyState") == "complete":
                return
            time.sleep(0.05)
        raise TimeoutError(f"{path} did not load")

    def value(self, expression):
        """Return the value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def press(self, key):
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def screenshot(self, path, whole=True):
        """Save a picture of the whole page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path):
        """Save the page as it is printed."""
        printed = self.call("Page.printToPDF", preferCSSPageSize=False, printBackground=False)
        path.write_bytes(base64.b64decode(printed["data"]))
