"""Debian's Chromium without a window, as a visitor of the pages: light or dark, wide or as a phone, with or without scripts.

    @unittest.skipIf(why_no_browser(), why_no_browser())
    ...
        browser = Browser(farm.url)
        browser.open("/")
        browser.find("[name=q]").send_keys("torch")
"""

import base64
import json
import shutil
import sys
from pathlib import Path

from support.farm import CLIENTS

# python3-selenium lies where only the distribution's own Python looks.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    from selenium import webdriver
    from selenium.common.exceptions import NoSuchElementException, SessionNotCreatedException, StaleElementReferenceException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys  # noqa: F401 (for tests)
    REPLACED = (NoSuchElementException, StaleElementReferenceException)  # by a script, after it was found
except ImportError:
    webdriver, REPLACED = None, ()

SCRIPT_TIMEOUT_S = 120
START_TRIES = 4
AXE = CLIENTS / "axe" / "axe_playwright_python" / "axe.min.js"
WIDE = (1280, 900)
TABLET = (768, 1024)
PHONE = (360, 780)
NARROW = (360, 779)  # without the emulation of a phone, which counts no layout shift
FULL_HD = (1920, 1080)

OUTSIDE = """
const found = [], name = part => part.tagName.toLowerCase() + (part.id ? "#" + part.id : "") + (part.className ? "." + part.className : "");
for (const part of document.querySelectorAll(["a", "button", "input", "select", "textarea", "summary"].flatMap(one => [`main ${one}`, `header ${one}`, `footer ${one}`]).join())) {
  if (!part.checkVisibility() || part.closest(".matrix")) continue;
  const box = part.getBoundingClientRect();
  for (let around = part.parentElement; around !== document.documentElement; around = around.parentElement) {
    if (getComputedStyle(around).display === "inline") continue;
    const {left, right} = around.getBoundingClientRect();
    if (box.right <= right + 1 && box.left >= left - 1) continue;
    found.push(`${name(part)} "${(part.textContent || part.name).trim().slice(0, 40)}" ends at ${Math.round(box.right)}, ${name(around)} at ${Math.round(right)}`);
    break;
  }
}
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const widest = wide > 0 && [...document.querySelectorAll("body *")].filter(part => part.checkVisibility() && !part.closest(".scroll") && part.getBoundingClientRect().right > innerWidth + 1).pop();
if (wide > 0) found.push(`the page is ${wide} pixels too wide${widest ? ", as " + name(widest) + " in " + name(widest.parentElement) : ""}`);
return found;
"""
SHIFT = """
const done = arguments[0];
let sum = 0;
new PerformanceObserver(list => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value; }).observe({type: "layout-shift", buffered: true});
setTimeout(() => done(sum), 200);
"""


def why_no_browser() -> str:
    """Empty: there is one."""
    if webdriver is None:
        return "python3-selenium is not installed: scripts/install-deps --test"
    return "" if shutil.which("chromedriver") else "chromium-driver is not installed: scripts/install-deps --test"


def why_no_axe() -> str:
    return why_no_browser() or ("" if AXE.is_file() else "axe-core could not be fetched: scripts/prepare-clients")


def start(options: "webdriver.ChromeOptions") -> "webdriver.Chrome":
    """chromedriver gives a browser a minute to start, which a busy machine may need more than once."""
    for tries_left in reversed(range(START_TRIES)):
        try:
            return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        except SessionNotCreatedException:
            if tries_left == 0:
                raise
    raise AssertionError


class Browser:
    def __init__(self, url: str, arguments: tuple[str, ...] = ()):
        self.url = url
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", *arguments):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = start(options)
        self.driver.set_script_timeout(SCRIPT_TIMEOUT_S)
        self.quit = self.driver.quit
        self.show()

    def show(self, dark: bool = False, size: tuple[int, int] = WIDE, scripts: bool = True) -> None:
        """How the next pages are seen."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE})
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})

    def open(self, path: str) -> None:
        self.driver.get(self.url + path)

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def link(self, text: str):
        return self.driver.find_element(By.LINK_TEXT, text)

    def path(self) -> str:
        return self.driver.current_url.removeprefix(self.url)

    def texts(self, selector: str) -> list[str]:
        """In one step: scripts replace what they show."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map(part => part.textContent)", selector)

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        return self.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def outside(self) -> list[str]:
        """Controls that are not wholly within what contains them, and the page if it is wider than the window. The table of versions and
        Pythons scrolls in its box."""
        return self.run(OUTSIDE)

    def shift(self) -> float:
        """How much of the page has moved since it was opened: Cumulative Layout Shift."""
        return self.driver.execute_async_script(SHIFT)

    def barriers(self) -> list[str]:
        """What axe-core finds on the page, a line each."""
        self.run(AXE.read_text())
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(done, error => done({violations: [], error: `${error}`}))")
        if "error" in found:
            raise AssertionError(f"axe-core: {found['error']}")
        return [f"{rule['id']} ({rule['impact']}): {node['html'][:200]} {node['failureSummary']}"
                for rule in found["violations"] for node in rule["nodes"]]

    def complaints(self) -> list[str]:
        """Errors in the console since the last call, such as violations of the policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses of this server that the browser has asked the content of since the last call."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        urls = [event["params"]["request"]["url"] for event in events
                if event["method"] == "Network.requestWillBeSent" and event["params"]["request"]["method"] != "HEAD"]
        return [url.removeprefix(self.url) for url in urls if url.startswith("http")]

    def picture(self, file: Path, max_height: int) -> None:
        """The whole page, cut at `max_height`."""
        size = self.run("return [document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": {
            "x": 0, "y": 0, "width": size[0], "height": min(size[1], max_height), "scale": 1}})
        file.write_bytes(base64.b64decode(shot["data"]))
