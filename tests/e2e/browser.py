"""Headless Chromium through its DevTools pipe: JSON messages that end with NUL, on descriptors 3 and 4."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def program():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="ringfold-chromium.")
        down, self.to = os.pipe()
        self.back, up = os.pipe()
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (down, up), "sh", program(), "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb", "--user-data-dir=" + self.folder,
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=(down, up), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        self.buffer = b""
        self.number = 0
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.errors = []
        self.call("Runtime.enable")

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 60
        while True:
            while b"\0" not in self.buffer:
                if not select.select([self.back], [], [], max(0, end - time.monotonic()))[0]:
                    raise TimeoutError(method)
                more = os.read(self.back, 1 << 16)
                if not more:
                    raise EOFError("Chromium has ended")
                self.buffer += more
            text, self.buffer = self.buffer.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("method") == "Runtime.exceptionThrown":
                self.errors.append(answer["params"]["exceptionDetails"].get("exception", {}).get("description", "error"))
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]

    def open(self, url, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.run("window.old = true")
        self.call("Page.navigate", url=url)
        self.until("!window.old && document.readyState === 'complete'")

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def until(self, script, seconds=15):
        """The first value of an expression that is true, or None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.2)
        return None

    def picture(self, path, full=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, TimeoutError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)
