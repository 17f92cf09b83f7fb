"""A headless Chromium, driven over --remote-debugging-pipe with Python's standard library alone.

Browser owns the process and its profile; each Page is a tab in a context (cookies and storage) of its own or of another Page. What a page says, asks for and
breaks is kept with it: Page.messages, Page.faults, Page.urls. One thread uses them; a second one reads the pipe.
"""
import base64
import collections
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

PATIENCE_S = 20
KEYS = {"Enter": ("\r", 13), "Escape": ("", 27), "Tab": ("", 9), "Backspace": ("", 8), " ": (" ", 32)}


class Fault(Exception):
    """The browser refused a command, or something did not come about in time."""


def find_chromium():
    """Its path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-headless-shell")


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="runwarden-browser-")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The browser reads from descriptor 3 and writes to 4. Copies above both first: either may be one of them now.
        high_read, high_write = (os.dup2(fd, 200 + i, inheritable=False) for i, fd in enumerate((to_browser, from_browser)))

        def place():
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        arguments = ["--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
                     "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
                     "--disable-features=Translate,MediaRouter,OptimizationHints", "--no-proxy-server", "--force-color-profile=srgb", "--hide-scrollbars", "--window-size=1280,900",
                     "--allow-pre-commit-input"]  # else clicks before the first frame of a document are dropped
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # it cannot be made by root
        self._process = subprocess.Popen([find_chromium(), *arguments, "about:blank"], pass_fds=(3, 4), preexec_fn=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
        for fd in (to_browser, from_browser, high_read, high_write):
            os.close(fd)
        self._numbers = itertools.count(1)
        self._answers = {}
        self._changed = threading.Condition()
        self._gone = False
        self._pages = {}
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.send("Browser.close")
        except Fault:
            pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self):
        buffer = b""
        while True:
            piece = os.read(self._in, 1 << 16)
            if not piece:
                break
            buffer += piece
            *messages, buffer = buffer.split(b"\0")
            for text in messages:
                message = json.loads(text)
                with self._changed:
                    if "id" in message:
                        self._answers[message["id"]] = message
                    elif page := self._pages.get(message.get("sessionId")):
                        page._take(message["method"], message["params"])
                    self._changed.notify_all()
        with self._changed:
            self._gone = True
            self._changed.notify_all()

    def send(self, method, session=None, **parameters):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        try:
            os.write(self._out, json.dumps(message).encode() + b"\0")
        except OSError as fault:
            raise Fault(f"{method}: the browser has ended") from fault
        with self._changed:
            if not self._changed.wait_for(lambda: number in self._answers or self._gone, PATIENCE_S):
                raise Fault(f"{method}: no answer within {PATIENCE_S} s")
            answer = self._answers.pop(number, {"error": {"message": "the browser has ended"}})
        if "error" in answer:
            raise Fault(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def page(self, **how):
        """A tab with a profile of its own, or with that of the page that it is `beside`."""
        return Page(self, **how)


# The middle of an element that is at the same place in two frames in a row, in pixels of the window; null if it is not.
STILL = """async (find) => {
  const frame = () => new Promise((go) => { requestAnimationFrame(go); setTimeout(go, 200); });
  const place = () => {
    const element = find();
    element?.scrollIntoView({block: 'center'});
    const box = element?.getClientRects()[0];
    return box ? [box.x + box.width / 2, box.y + box.height / 2] : null;
  };
  const before = place();
  await frame();
  await frame();
  const after = place();
  return String(before) === String(after) ? after : null;
}"""


class Page:
    def __init__(self, browser, width=1280, height=900, scheme="light", beside=None):
        self.browser = browser
        self.beside = beside
        self.messages = []  # console and log, as text
        self.faults = []    # exceptions that nobody caught
        self.violations = []  # of the content security policy
        self.requests = collections.deque(maxlen=5000)  # (method, url)
        self._loads = 0
        self.context = beside.context if beside else browser.send("Target.createBrowserContext")["browserContextId"]
        target = browser.send("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser._pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
            self.send(f"{domain}.enable")
        self.send("Network.setCacheDisabled", cacheDisabled=False)
        self.send("Page.addScriptToEvaluateOnNewDocument", source="document.addEventListener('securitypolicyviolation', (e) => console.error('CSP', e.violatedDirective, e.blockedURI));")
        self.resize(width, height)
        self.color_scheme(scheme)

    def _take(self, method, parameters):  # on the reader's thread, under its lock
        if method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(one.get("value", one.get("description", ""))) for one in parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            entry = parameters["entry"]
            self.messages.append(f"{entry['source']} {entry['level']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append((parameters["request"]["method"], parameters["request"]["url"]))
        elif method == "Page.loadEventFired":
            self._loads += 1

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def close(self):
        if self.beside is None:
            self.browser.send("Target.disposeBrowserContext", browserContextId=self.context)
        self.browser._pages.pop(self.session, None)

    def resize(self, width, height=900):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def color_scheme(self, scheme, reduced_motion=True):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}])

    def go(self, url, ready=True):
        before = self._loads
        self.send("Page.navigate", url=url)
        with self.browser._changed:
            if not self.browser._changed.wait_for(lambda: self._loads > before, PATIENCE_S):
                raise Fault(f"{url} did not load within {PATIENCE_S} s")
        if ready:
            self.ready()

    def reload(self):
        before = self._loads
        self.send("Page.reload")
        with self.browser._changed:
            self.browser._changed.wait_for(lambda: self._loads > before, PATIENCE_S)
        self.ready()

    def run(self, expression):
        """The value of a JavaScript expression; promises are waited for."""
        answer = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise Fault(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def wait(self, expression, what=None, timeout_s=PATIENCE_S):
        """Until the expression is true; its value."""
        end = time.monotonic() + timeout_s
        while True:
            try:
                if value := self.run(f"(() => {{ const value = ({expression}); return value instanceof Node ? true : value; }})()"):
                    return value
            except Fault as fault:  # the document is being changed for another
                if "context" not in str(fault) and "navigated" not in str(fault):
                    raise
            if time.monotonic() > end:
                raise Fault(f"{what or expression}: not within {timeout_s} s; the page is at {self.run('location.href')} and shows: {self.run('document.body.innerText')[:1500]}")
            time.sleep(0.01)

    def ready(self, view=None):
        self.wait("document.documentElement.dataset.ready === 'true'" + (f" && document.documentElement.dataset.view === '{view}'" if view else ""), f"view {view or 'ready'}")

    def find(self, name):
        return f"document.querySelector('[data-test=\"{name}\"]')"

    def text(self, name):
        return self.run(f"{self.find(name)}?.innerText ?? null")

    def count(self, name):
        return self.run(f"document.querySelectorAll('[data-test=\"{name}\"]').length")

    def data(self, name, member):
        """dataset[member] of each element of that name, in order."""
        return self.run(f"[...document.querySelectorAll('[data-test=\"{name}\"]')].map((one) => one.dataset.{member})")

    def click(self, selector):
        """A real click of the pointer in the middle of an element once it stands still: a CSS selector, or a data-test name."""
        element = f"document.querySelector({json.dumps(selector)})" if any(c in selector for c in "[.#:> ") else self.find(selector)
        box = self.wait(f"({STILL})(() => {element})", f"{selector} to click on")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def key(self, key, modifiers=0, held=False):
        """A key pressed, or one that was and is held, and let go. modifiers: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift."""
        text, code = KEYS.get(key, (key, ord(key.upper()) if len(key) == 1 else 0))
        down = {"type": "keyDown" if text and not modifiers & 7 else "rawKeyDown", "key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        if text and not modifiers & 7:
            down["text"] = text
        self.send("Input.dispatchKeyEvent", autoRepeat=held, **down)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def choose(self, name, value):
        """Another option of a select."""
        self.run(f"(() => {{ const e = {self.find(name)}; e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change', {{bubbles: true}})); }})()")

    def screenshot(self, path, whole=False):
        picture = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as out:
            out.write(base64.b64decode(picture["data"]))

    def adopt(self, url, sealed):
        """The cookie of a session, as a login leaves it."""
        self.send("Network.setCookie", name="rw_session", value=sealed, url=url + "/", path="/", httpOnly=True, sameSite="Strict")

    def log_in(self, url, key, next_path="/ui/"):
        self.go(f"{url}/ui/login?next={next_path}")
        self.run(f"{self.find('login-key')}.focus()")
        self.type(key)
        self.key("Enter")
        self.wait("document.documentElement.dataset.view !== 'login' && document.documentElement.dataset.ready === 'true'", "logged in")
