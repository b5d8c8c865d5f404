"""Chromium without a window, driven through its DevTools protocol over two pipes: real clicks, movements and keys."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import unittest


def chromium():
    """The browser, or the test is skipped."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise unittest.SkipTest("no chromium is installed")


class Browser:
    """One page. `messages` is what went wrong in it: exceptions, errors of the console, refusals of its policy."""

    def __init__(self, width=1280, height=900):
        self.folder = tempfile.mkdtemp()
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def arrange():  # the protocol wants 3 to read from and 4 to write to
            reader, writer = os.dup(to_read), os.dup(from_write)
            os.dup2(reader, 3)
            os.dup2(writer, 4)

        self.process = subprocess.Popen(
            [chromium(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
             "--user-data-dir=" + self.folder + "/profile", "about:blank"],
            close_fds=False, preexec_fn=arrange, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.to, self.source, self.received = to_write, from_read, b""
        self.number, self.session, self.messages, self.requests = 0, None, [], []
        try:
            page = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
            self.session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.send(domain + ".enable")
            self.downloads = self.folder + "/downloads"
            os.mkdir(self.downloads)
            self.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.downloads)
            self.resize(width, height)
        except BaseException:
            self.close()
            raise

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.source)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _next(self, end):
        while b"\0" not in self.received:
            ready, _, _ = select.select([self.source], [], [], max(0, end - time.monotonic()))
            part = os.read(self.source, 1 << 20) if ready else b""
            if not part:
                raise AssertionError("the browser does not answer")
            self.received += part
        line, self.received = self.received.split(b"\0", 1)
        return json.loads(line)

    def _note(self, message):
        parameters = message.get("params", {})
        if message["method"] == "Runtime.exceptionThrown":
            self.messages.append(json.dumps(parameters["exceptionDetails"])[:2000])
        elif message["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.messages.append(parameters["entry"]["text"])
        elif message["method"] == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.messages.append(json.dumps(parameters["args"])[:2000])
        elif message["method"] == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        end = time.monotonic() + 120
        while True:
            answer = self._next(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(method + ": " + answer["error"]["message"])
                return answer["result"]
            if "method" in answer:
                self._note(answer)

    # ---- What a test says ----

    def open(self, url):
        self.send("Page.navigate", url="about:blank")  # so that it is loaded anew, whatever was there before
        self.wait("location.href === 'about:blank'")
        self.send("Page.navigate", url=url)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def evaluate(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(expression + ": " + json.dumps(result["exceptionDetails"])[:1000])
        return result["result"].get("value")

    def wait(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise AssertionError("waited for " + expression + "; messages: " + str(self.messages))
            time.sleep(0.05)

    def resize(self, width, height, phone=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.send("Emulation.setTouchEmulationEnabled", enabled=phone)

    def prefer(self, scheme):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def centre(self, selector):
        """Of an element, in the window, where it is brought."""
        return self.evaluate("""(() => { const e = document.querySelector(%s); e.scrollIntoView({block: "center"});
            const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()"""
                             % json.dumps(selector))

    def move(self, x, y):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def hover(self, selector):
        self.move(*self.centre(selector))

    def click_at(self, x, y):
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click(self, selector):
        self.click_at(*self.centre(selector))

    def tap(self, selector):
        x, y = self.centre(selector)
        self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def key(self, key, shift=False):
        code = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
                "ArrowRight": 39, "ArrowDown": 40}.get(key, ord(key[0].upper()))
        parameters = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        text = "\r" if key == "Enter" else key if len(key) == 1 else None
        self.send("Input.dispatchKeyEvent", type="keyDown", **parameters, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def downloaded(self, name, seconds=60):
        """The bytes of a file that the page has saved."""
        path, end = os.path.join(self.downloads, name), time.monotonic() + seconds
        while not os.path.exists(path):
            if time.monotonic() > end:
                raise AssertionError("no " + name + " was saved, but " + str(os.listdir(self.downloads)))
            self.evaluate("0")  # so that the browser is heard meanwhile
            time.sleep(0.05)
        with open(path, "rb") as file:
            return file.read()

    def screenshot(self, path, whole=True):
        data = self.send("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
