"""A visitor's way through the pages in Chromium, short enough for every run: from the front page to an install line and to a request,
by keyboard alone, without scripts, on a phone; axe-core finds no barrier on any page. system/pages has more, for full runs."""

import contextlib
import gzip
import hashlib
import json
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

from support.browser import NARROW, PHONE, REPLACED, TABLET, WIDE, Browser, Keys, why_no_axe, why_no_browser
from support.case import main
from support.clients import RawUpload
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, ROOT, Farm
from support.sample_farm import GPU_OBJECTS, JOB, SAMPLE_INDEXES, SAMPLE_SETTINGS, SAMPLE_TITLES, fill, moment, report_sites, reports, wait_for_pages
from support.sdists import Sdist
from support.site import PYTHON_VERSION as VENV_VERSION, VENV_PYTHON
from support.slurm_cluster import SlurmCluster, missing_programs
from support.wheels import Wheel, sha256_of

PATIENCE_S = 240
REPORTED_AGAIN_S = 300  # ten minutes after the next report was due, a site is late
MAX_FIRST_LOAD_BYTES = 30_000  # as a browser asks for it: compressed
MAX_STYLE_BYTES = 5_000
MAX_LAYOUT_SHIFT = 0.1  # Cumulative Layout Shift: "good", by its authors
# A page, its style, its icon, at most three scripts, and what they ask at once.
MAX_FIRST_LOAD_REQUESTS = 9
BEDE = "/bede-gh200"
GH = "bede, gh (gh200)"  # the machine that its wheels are for
PAGES = {"front": "/", "search": f"{BEDE}/project/?q=to", "project": f"{BEDE}/project/torch/", "Python only": f"{BEDE}/project/tqdm/", "40 columns": "/archer2/project/pyyaml/",
         "site": f"{BEDE}/site/bede/", "sites": f"{BEDE}/site/", "builds": f"{BEDE}/builds/", "one build": f"{BEDE}/builds/#build-w1kq7x9aab3cde", "failed build": f"{BEDE}/builds/#build-w1kq7x9aab3aaa",
         "log": f"{BEDE}/builds/build.html?site=bede&id=w1kq7x9aab3aaa", "request": f"{BEDE}/builds/?package=torch&version=2.6.0", "index": f"{BEDE}/", "operators": "/api/v1/"}
# By status. To a reader without rights a private index is as if it were not there.
ERROR_PAGES = {"404": f"{BEDE}/project/trch/", "404 address": f"{BEDE}/nowhere/", "401": "/lab/project/", "403": "/api/v1/audit",
               "503": "/far/simple/yard-six/"}
# Of wheels on PyPI, and one of each rule.
SPECIFIERS = ["", "<5,>=4", "!=1.5.7,<2.0,>=1.5.6", ">=1.0.0rc9", "<3.0.0,>=2.31.0", ">=23.0,<24", "~=2.4", "~=2.4.1", "~=1!2.0", "~=1.0rc1", "==1.4.*", "!=1.4.*", "==1!1.*", "==0.*",
              "==1.0", "==1.0.0.0", "==1.0+cu126", "!=1.0+cu126", "===1.0", ">=1.0.dev0", "<1.0.dev0", "<1.0", "<=1.0", ">1.0", ">1.0.post1", "<1.0.post1", "<2.0rc1", ">2.0rc1",
              "<1.0a1", ">1.0a1", ">1.0.dev1", ">=1!0", ">=2.6", ">=v1.0", ">2024.1"]
VERSIONS = ["0", "0.9", "1.0", "1.0.0", "v1.2", "1.0+cu126", "1.0+cu126.1", "1.0+1", "1.0+abc", "1.0.dev0", "1.0.dev1", "1.0a1", "1.0a1.dev2", "1.0-beta", "1.0c1", "1.0preview3", "1.0rc1.post2",
            "1.0.post1", "1.0.post1.dev3", "1.0-1", "1.0-r4", "1.0.post2+x", "1.4", "1.4.1", "1.4a1", "1.40", "1.5.6", "1.5.7", "1!0", "1!1.5", "1!2.1", "2.0.dev1", "2.0rc1", "2.0", "2.31.0",
            "2.4", "2.4.1", "2.4.9", "2.5", "2.6.0rc1", "2.6.0", "2.6.0+cu126", "3.12", "4.2", "23.1", "2024.1", "20240101120000"]
PIP_JUDGES = """import json, sys
from pip._vendor.packaging.specifiers import SpecifierSet
wanted, versions = json.load(sys.stdin)
print(json.dumps([[SpecifierSet(one).contains(version, prereleases=True) for version in versions] for one in wanted]))"""


def wait_until(condition, patience_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + patience_s
    while True:
        with contextlib.suppress(*REPLACED):
            if condition():
                return
        assert time.monotonic() < deadline
        time.sleep(0.05)


@unittest.skipIf(why_no_browser(), why_no_browser())
class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="wheelyard-browser-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        far = '[[index.upstream]]\nname = "gone"\nurl = "http://127.0.0.1:1/simple/"\nprivate_hosts = ["127.0.0.1"]'
        cls.farm = cls.enterClassContext(Farm((*SAMPLE_INDEXES, "lab", "far"), settings=SAMPLE_SETTINGS,
                                              index_settings=SAMPLE_TITLES | {"archer2": SAMPLE_TITLES["archer2"] + '\nask = "anyone"\nsdists = true', "lab": 'read = "token"', "far": far}))
        cls.farm.start()
        cls.began_month, cls.reported = moment()[:7], time.monotonic()
        fill(cls.farm, cls.folder / "wheels")
        wait_for_pages(cls.farm)
        cls.browser = Browser(cls.farm.url)
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.browser.show()
        self.browser.complaints()  # those of other tests
        if time.monotonic() > self.reported + REPORTED_AGAIN_S:
            report_sites(self.farm, self.farm.create_token(name="again"), reports())
            type(self).reported = time.monotonic()

    def press(self, *keys):
        self.browser.driver.switch_to.active_element.send_keys(*keys)

    def choose(self, **chosen: str):
        """A machine in the header."""
        self.browser.find("#machine summary").click()
        wait_until(lambda: len(self.browser.texts("#machine [data-choice=node] option")) > 1)
        for name, value in chosen.items():
            self.browser.run("const it = document.querySelector(`#machine [data-choice=${arguments[0]}]`); it.value = arguments[1];"
                             "it.dispatchEvent(new Event('change', {bubbles: true}))", name, value)
        self.browser.find("#machine summary").click()
        self.addCleanup(self.browser.run, "localStorage.clear(); sessionStorage.clear()")

    def cell(self, version: str, python: str) -> str:
        """What the grid of a project shows there."""
        return self.browser.find(f"#grid td[data-version='{version}'][data-python='{python}']").text

    def focused(self) -> str:
        return self.browser.run("const it = document.activeElement; return it.id || it.name || it.textContent.trim()")

    def test_a_few_clicks_lead_from_the_front_page_to_the_install_line_of_a_node_type(self):
        browser = self.browser
        browser.open("/")
        wait_until(lambda: self.focused() == "q")
        self.press("torc")
        wait_until(lambda: "torch" in browser.texts("#results h3 a"))
        browser.link("torch").click()                                                      # 1
        wait_until(lambda: browser.path() == PAGES["project"])
        self.choose(node=GH)                                                               # 2
        browser.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        browser.find("#way-pip button").click()                                            # 3
        wait_until(lambda: browser.find("#way-pip button").text == "Copied")
        line = f"pip install --index-url {self.farm.simple_url('bede-gh200')} torch==2.5.1"
        self.assertEqual(browser.find("#install-line").text, line)
        self.assertEqual(browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])"), line)
        browser.open(f"{BEDE}/project/torchvision/")  # every page remembers the node type
        wait_until(lambda: browser.find("#machine strong").text == GH)
        browser.open(PAGES["project"])
        browser.link("ask for it").click()
        wait_until(lambda: browser.run("return document.getElementsByName('package')[0].value") == "torch")
        for name, value in (("version", "9.9"), ("python", "3.12"), ("token", self.farm.create_token(name="anna", actions=("task",)))):
            field = browser.find(f"#request [name={name}]")
            field.clear()  # of what another page of this tab has kept
            field.send_keys(value)
        browser.find("#request form button").click()
        wait_until(lambda: browser.texts("#requests .state") == ["asked for"])
        field = browser.find("#request [name=python]")  # one request for several Pythons
        field.clear()
        field.send_keys("3.11, 3.12")
        browser.find("#request form button").click()
        wait_until(lambda: browser.find("#request-answer").text == "The registry has the 2 requests.")
        wait_until(lambda: browser.texts("#requests .state") == ["asked for", "asked for"])
        self.assertEqual([text for text in browser.complaints() if "404" not in text], [])  # an index without sites

    def test_the_install_line_is_for_the_chosen_python_which_is_in_the_address(self):
        browser = self.browser
        browser.open(PAGES["project"])
        browser.run("localStorage.clear(); sessionStorage.clear()")
        browser.open(PAGES["project"])
        line = f"pip install --index-url {self.farm.simple_url('bede-gh200')} torch==2.5.1"
        wait_until(lambda: browser.find("#install-line").text == line)
        self.choose(python="3.13")
        wait_until(lambda: browser.find("#install-line").text == "# no wheel of torch for Python 3.13")
        self.assertEqual(browser.path(), PAGES["project"] + "?my_python=3.13")
        self.assertIn("package=torch&python=3.13", browser.find("#install-ask").get_attribute("href"))
        browser.run("localStorage.clear(); sessionStorage.clear()")
        browser.open(PAGES["project"] + "?my_python=3.12")
        wait_until(lambda: browser.find("#machine strong").text == "Python 3.12")
        self.assertEqual(browser.find("#install-line").text, line)
        browser.run("localStorage.clear(); sessionStorage.clear()")

    def test_pages_answer_for_the_machine_of_the_reader_which_an_address_sets(self):
        browser = self.browser
        browser.open(PAGES["project"] + "?node=bede,%20gpu%20(v100)&my_python=3.12")
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        wait_until(lambda: browser.find("#machine strong").text == "bede, gpu (v100), Python 3.12")
        wait_until(lambda: "built for sm_" in self.cell("2.5.1", "3.12"))  # why not, and what to do
        self.assertIn("ask", self.cell("2.5.1", "3.12"))
        self.assertEqual(browser.find("#install-line").text, "# no wheel of torch for Python 3.12 on bede, gpu (v100)")
        self.assertFalse(browser.find("#way-pip button").is_displayed())  # there is nothing to copy
        self.assertFalse(browser.find("#install-note").is_displayed())  # the reason is in the list below, once
        self.assertIn("bede, gpu (v100): built for sm_", browser.find("section.first").text)
        self.choose(node=GH)
        wait_until(lambda: "waits for a free job" in self.cell("2.6.0", "3.11"))
        self.assertIn("building", self.cell("2.6.0", "3.12"))
        self.assertIn("no space left on the scratch disk", self.cell("2.5.1", "3.13"))
        self.assertIn("nobody asked: ask", self.cell("2.4.0", "3.13"))
        ask = browser.find("#grid td[data-version='2.4.0'][data-python='3.13'] .next a")
        self.assertTrue(ask.get_attribute("href").endswith("/builds/?package=torch&version=2.4.0&python=3.13&accelerator=gh200"))
        self.assertIn("torch==2.5.1", browser.find("#install-line").text)
        self.assertTrue(browser.find("#way-pip button").is_displayed())
        # Code for exactly this GPU runs on it; code for exactly another does not.
        self.assertEqual(browser.run("return ['sm_90', 'sm_90a', 'sm_100a'].map(code => yard.suits([], [], [code]) === true)"), [True, True, False])
        browser.open(f"{BEDE}/project/?q=o")
        wait_until(lambda: "for my machine" in browser.find("#results").text)
        browser.open("/")  # with another Python nothing of the newest runs, except what is for any
        wait_until(lambda: browser.texts("li.chosen") and GH in browser.texts("li.chosen")[0])
        # What nobody knows is no "yes": bede does not report its nodes' machine type.
        self.assertIn("not known for my machine", browser.texts(".mine"))
        self.assertEqual(browser.run("return [...document.querySelectorAll('.mine')].filter(it => it.textContent.startsWith('not known') && it.matches('.have')).length"), 0)
        self.choose(python="3.13")
        wait_until(lambda: "not for my machine" in browser.find("main").text)
        # Anyone who opens the address of a page sees the same.
        browser.open(PAGES["site"])
        wait_until(lambda: browser.path() == f"{PAGES['site']}?{urlencode({'node': GH, 'my_python': '3.13'})}")
        # An address counts in its tab, and replaces no choice.
        browser.open(PAGES["project"] + "?node=bede,%20gpu%20(v100)")
        wait_until(lambda: browser.find("#machine strong").text == "bede, gpu (v100), Python 3.13")
        browser.open(PAGES["site"])
        wait_until(lambda: browser.find("#machine strong").text == "bede, gpu (v100), Python 3.13")
        self.assertEqual(browser.run("return localStorage.getItem('wheelyard-node')"), GH)
        self.assertEqual([text for text in browser.complaints() if "404" not in text], [])  # an index without sites

    def test_a_wheel_of_which_nobody_knows_whether_it_runs_is_not_as_green_as_one_that_does(self):
        browser = self.browser
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        colour = lambda: browser.run("return getComputedStyle(document.querySelector('#grid a[href^=\"#wheel-\"]')).backgroundColor")
        browser.open(f"{BEDE}/project/torch/?node={GH}")
        wait_until(lambda: browser.find("#machine strong").text == GH)
        green = colour()
        browser.open(f"{BEDE}/project/h5py/?node={GH}")
        wait_until(lambda: browser.texts("#grid a.unknown"))
        self.assertNotEqual(colour(), green)

    def test_for_a_machine_of_another_index_the_page_of_a_project_names_that_index_and_asks_there(self):
        browser = self.browser
        browser.open("/")
        self.choose(node="archer2, standard", python="3.12")
        browser.open(f"{BEDE}/project/flash-attn/")
        wait_until(lambda: browser.find("#install-note").text == "archer2, standard is of another index than this page: archer2.")
        asks = [link.get_attribute("href") for link in browser.driver.find_elements("css selector", "main a[href*='builds/?']")]
        self.assertGreaterEqual(len(asks), 3)  # below the text that installs, in a cell, below the grid
        for ask in asks:
            self.assertTrue(ask.startswith(f"{self.farm.url}/archer2/builds/?package=flash-attn&"), ask)
        browser.link("archer2").click()
        wait_until(lambda: browser.path() == "/archer2/project/flash-attn/")
        browser.open("/archer2/project/h5py/")
        wait_until(lambda: browser.find("#install-note").text == "The newest version on archer2, standard for each Python: 3.11: 3.12.1.")
        browser.open("/")
        self.choose(node="bede, gpu (v100)")
        browser.open(f"{BEDE}/project/flash-attn/")
        wait_until(lambda: browser.find("#install-ask").get_attribute("href").endswith("?package=flash-attn&python=3.12&accelerator=v100"))
        browser.open("/archer2/builds/?package=h5py")
        wait_until(lambda: browser.find("#request [name=python]").get_attribute("placeholder") == "3.11")  # what its site builds
        browser.open(f"{BEDE}/builds/?package=torch&version=2.4.0&python=3.13")  # to ask for another Python is not to choose it
        wait_until(lambda: browser.run("return document.getElementsByName('python')[0]?.value") == "3.13")
        wait_until(lambda: browser.find("#machine strong").text == "bede, gpu (v100), Python 3.12")

    def test_each_text_that_installs_a_project_works_as_it_is_copied(self):
        browser = self.browser
        browser.open(f"{BEDE}/project/dask/")
        texts = {}
        for name in ("pip", "uv", "requirements"):
            browser.find(f"#tab-{name}").click()
            self.assertEqual(browser.path(), f"{BEDE}/project/dask/" + ("" if name == "pip" else f"?with={name}"))
            texts[name] = browser.find(f"#way-{name} code").text
            self.assertEqual([part for part in ("pip", "uv", "requirements") if browser.find(f"#way-{part}").is_displayed()], [name])
        save_and_run = re.search(r"pip install [^.]*requirements\.txt", browser.find("#way-requirements p").text)[0]
        browser.open(f"{BEDE}/project/dask/?with=uv")
        self.assertTrue(browser.find("#install-uv").is_displayed())
        browser.run("localStorage.clear(); sessionStorage.clear()")
        for name, command in (("pip", texts["pip"]), ("uv", texts["uv"]), ("requirements", save_and_run)):
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                subprocess.run([CLIENTS / "pip-new/bin/python", "-m", "venv", "--without-pip", folder], check=True)
                (Path(folder) / "requirements.txt").write_text(texts["requirements"])
                site, = Path(folder).glob("lib/python3*/site-packages")
                done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, env=self.farm.environment | {
                    "PATH": f"{CLIENTS}/pip-new/bin:{CLIENTS}/uv/bin:/usr/bin:/bin", "VIRTUAL_ENV": folder, "PIP_TARGET": str(site),
                    "PIP_NO_CACHE_DIR": "1", "UV_NO_CACHE": "1", "UV_NO_CONFIG": "1"})
                self.assertEqual(done.returncode, 0, (name, command, done.stdout, done.stderr))
                self.assertEqual([part.name for part in site.glob("dask-*")], ["dask-2026.10.0.dist-info"], name)

    def test_a_site_has_what_runs_there_for_the_machine_of_the_reader(self):
        browser = self.browser
        browser.open(PAGES["site"])
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        shown = lambda: [row.text.split()[0] for row in browser.driver.find_elements("css selector", "#wheels tbody tr") if row.is_displayed()]
        wait_until(lambda: "torch" in shown())
        everything = shown()
        self.assertTrue({"torch", "mpi4py", "dask", "numpy"} <= set(everything))
        self.assertEqual(browser.texts(".builds .row strong")[:1], ["torch 2.6.0"])  # being built
        self.assertIn("Killed signal", browser.find("main").text)
        browser.driver.find_elements("css selector", "#wheels thead button")[0].click()
        self.assertEqual(shown(), sorted(everything))
        self.assertIn("sort=project", browser.path())
        field = lambda name, value: browser.run("const it = document.querySelector(`#search [name=${arguments[0]}]`); it.value = arguments[1];"
                                                "it.dispatchEvent(new Event('input', {bubbles: true}))", name, value)
        field("mpi", "with")
        self.assertTrue({"mpi4py", "h5py"} <= set(shown()) and "dask" not in shown(), shown())
        field("mpi", "")
        field("q", "to")
        self.assertEqual(set(shown()), {"torch", "torchvision"})
        browser.open(f"{BEDE}/site/bede/?q=tqdm&sort=-version")  # what an address says
        wait_until(lambda: shown() == ["tqdm"])
        browser.open(PAGES["site"])
        self.choose(node="bede, gpu (v100)", python="3.12")
        wait_until(lambda: "torch" not in shown() and "dask" in shown())
        self.assertTrue(browser.run("return document.getElementById('machine-site').href").endswith("/bede-gh200/site/bede/"))
        self.choose(node=GH)
        wait_until(lambda: "torch" in shown())
        # How long builds take, from what the registry keeps of them.
        wait_until(lambda: any(text.startswith("torch") and "1 h 30 min" in text for text in browser.texts("#courses tbody tr")))
        self.assertEqual(len(browser.driver.find_elements("css selector", "#courses svg")), 1)  # of memory nothing is known
        self.assertEqual(browser.complaints(), [])

    def test_avail_wheels_prints_the_address_that_chooses_its_machine(self):
        browser = self.browser
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        for words, page in ((("torch",), f"{BEDE}/project/torch/?"), ((), f"{BEDE}/site/bede/?")):
            printed = self.farm.run("avail_wheels", *words, "--web", "--index-url", self.farm.simple_url("bede-gh200"), "-p", "3.12",
                                    "--assume", "machine=aarch64", "gpu=sm_90")
            self.assertEqual((printed.returncode, printed.stderr), (0, ""))
            path = printed.stdout.strip().removeprefix(self.farm.url)
            self.assertTrue(path.startswith(page), path)
            browser.run("localStorage.clear(); sessionStorage.clear()")
            browser.open(path)
            wait_until(lambda: browser.find("#machine strong").text == f"{GH}, Python 3.12")

    def test_the_builds_are_those_for_the_machine_of_the_reader_or_all(self):
        browser = self.browser
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        browser.open(PAGES["builds"] + "?node=bede,%20gpu%20(v100)")
        wait_until(lambda: browser.texts("#running li") == ["Nothing is being built."])
        self.assertIn("Only builds for bede, gpu (v100).", browser.find("#builds-of").text)
        browser.find("#builds-of button").click()
        wait_until(lambda: any("torch 2.6.0" in text for text in browser.texts("#running li")))
        self.assertIn("all=1", browser.path())
        browser.driver.refresh()  # as the address says
        wait_until(lambda: any("torch 2.6.0" in text for text in browser.texts("#running li")))
        self.choose(node=GH)
        browser.find("#builds-of button").click()
        wait_until(lambda: "Only builds for " + GH in browser.find("#builds-of").text)
        self.assertTrue(any("torch 2.6.0" in text for text in browser.texts("#running li")))
        browser.open(f"{BEDE}/builds/?node=bede,%20gpu%20(v100)#build-w1kq7x9aab3cde")  # an address of another machine's build
        wait_until(lambda: browser.texts(".chosen h3") == ["torch 2.6.0 build"])
        # An agent whose time has come is not "as expected", before it counts as late. It reports now: the suite may be slow.
        report_sites(self.farm, self.farm.create_token(name="late"), {"bede": reports()["bede"]})
        browser.driver.refresh()
        wait_until(lambda: browser.texts(".chosen h3") == ["torch 2.6.0 build"])
        wait_until(lambda: browser.texts("#agents .state") == ["as expected"])
        browser.run("const later = Date.now() + 5 * 60000; Date.now = () => later; dispatchEvent(new Event('machine'))")
        self.assertEqual(browser.texts("#agents .state"), ["due"])

    def test_the_text_with_modules_and_a_job_works_as_it_is_copied(self):
        browser = self.browser
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        browser.open(f"{BEDE}/project/torch/?with=job&node={GH.replace(' ', '%20')}&my_python=3.11")
        text = lambda: browser.find("#install-job").text
        wait_until(lambda: "python/3.11" in text())
        for line in ("#SBATCH --account=ACCOUNT", "module load gcc/12.2 cuda/12.3 openmpi/4.1 python/3.11", "torch==2.5.1", "sbatch torch.job"):
            self.assertIn(line, text())
        self.choose(node="bede, gpu (v100)")
        wait_until(lambda: text().startswith("# no wheel of torch"))
        # A site whose modules and Slurm are here.
        with tempfile.TemporaryDirectory(dir=self.folder) as place, contextlib.ExitStack() as stack:
            modules = Path(place) / "modules.sh"
            modules.write_text('module() { export LOADED="$*"; }\n')
            report = reports()["bede"]
            report["nodes"][0]["job"] = [line for line in JOB if "partition" not in line]
            report["setups"] = [{"python": VENV_VERSION, "accelerator": "gh200", "program": VENV_PYTHON,
                                 "lines": [f". {modules}", "module load gcc/12"]}]
            token = self.farm.create_token(name="sites")
            report_sites(self.farm, token, {"bede": report})
            self.addCleanup(report_sites, self.farm, token, reports())
            environment = self.farm.environment | {"PATH": f"{CLIENTS}/pip-new/bin:/usr/bin:/bin"}
            if missing_programs():  # a batch system that runs a job at once
                (Path(place) / "sbatch").write_text('#!/bin/sh\nbash "$1" > slurm-1.out 2>&1\n')
                (Path(place) / "sbatch").chmod(0o755)
                environment["PATH"] = f"{place}:{environment['PATH']}"
            else:
                environment |= stack.enter_context(SlurmCluster(Path(place) / "slurm")).environment
            def shows_modules():
                browser.open(f"{BEDE}/project/dask/?with=job&node={GH.replace(' ', '%20')}&my_python={VENV_VERSION}")
                return str(modules) in text()
            wait_until(shows_modules)
            copied = text().replace("~/", f"{place}/").replace("#SBATCH --account=ACCOUNT\n", "")  # the reader's home and account
            done = subprocess.run(["bash", "-ec", copied], cwd=place, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, env=environment)
            self.assertEqual(done.returncode, 0, (copied, done.stdout, done.stderr))
            self.assertEqual(subprocess.run(["bash", "-n", "dask.job"], cwd=place).returncode, 0)
            wait_until(lambda: [part.read_text().strip() for part in Path(place).glob("slurm-*.out")] == ["2026.10.0"], COMMAND_TIMEOUT_S)

    def test_a_search_is_in_the_address_and_a_slash_leads_to_it(self):
        browser = self.browser
        browser.open(f"{BEDE}/builds/")
        browser.find("body").send_keys("/")
        wait_until(lambda: browser.path() == f"{BEDE}/project/")
        browser.run("document.activeElement.blur()")
        browser.find("body").send_keys("/")
        self.assertEqual(self.focused(), "q")
        self.press("tor")
        wait_until(lambda: "3.11" in browser.texts("[name=python] option"))
        browser.run("const it = document.getElementsByName('python')[0]; it.value = '3.11'; it.dispatchEvent(new Event('input', {bubbles: true}))")
        wait_until(lambda: browser.path() == f"{BEDE}/project/?q=tor&python=3.11")
        wait_until(lambda: browser.texts("#results h3 a") == ["torch"])
        browser.link("torch").click()
        wait_until(lambda: "project/torch/" in browser.path())
        browser.driver.back()
        wait_until(lambda: browser.texts("#results h3 a") == ["torch"])
        self.assertEqual(browser.find("[name=q]").get_attribute("value"), "tor")

    def test_a_search_has_one_rule_for_capitals_in_the_browser_and_in_its_files(self):
        self.browser.open(f"{BEDE}/project/")
        text = "".join(map(chr, (*range(0x41, 0x180), *range(0x386, 0x3AC), *range(0x400, 0x460))))
        self.assertEqual(self.browser.run("return yard.fold(arguments[0])", text), "".join(letter.lower()[0] for letter in text))

    def test_a_project_says_what_of_its_requirements_is_here_for_the_machine_and_what_requires_it(self):
        browser = self.browser
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        marks = lambda: browser.texts("#needs .mine")
        browser.open(f"{BEDE}/project/h5py/")
        wait_until(lambda: marks() == ["here"])
        self.choose(python="3.12")
        wait_until(lambda: marks() == ["for my machine"])
        self.choose(python="3.13")
        wait_until(lambda: marks() == ["not for my machine"])
        browser.link("numpy").click()
        wait_until(lambda: browser.texts("#needed li") == ["cupy", "h5py"])
        browser.open(PAGES["project"])
        wait_until(lambda: marks() == ["not here"] * 5)
        wait_until(lambda: browser.texts("#needed li") == ["flash-attn", "torchvision"])
        self.assertEqual(browser.find("#needs a").get_attribute("href"), f"{self.farm.url}{BEDE}/project/?q=filelock")
        self.assertFalse(browser.find("#needed p").text)
        self.assertEqual(browser.find("#install-lacks").text, "Required, and not in this index: filelock, typing-extensions>=4.8, sympy, networkx, jinja2. "
                                                              "pip stops there, unless the index has an upstream.")
        browser.open(f"{BEDE}/project/dask/")
        self.assertFalse(browser.find("#needed").is_displayed())
        self.assertFalse(browser.find("#install-lacks").is_displayed())
        # The version counts: cupy requires numpy>=2.2 where 2.1.3 is the newest, flash-attn torch<2.5 where 2.5.1 is.
        browser.run("localStorage.clear(); sessionStorage.clear()")
        for project, python, word in (("cupy", "", "no such version here"), ("flash-attn", "", "here"), ("flash-attn", "3.11", "for my machine"), ("flash-attn", "3.13", "not for my machine")):
            browser.open(f"{BEDE}/project/{project}/?my_python={python}")
            wait_until(lambda: marks() == [word])
        self.assertEqual(browser.complaints(), [])

    def test_a_version_satisfies_in_the_browser_what_it_satisfies_for_pip(self):
        browser = self.browser
        browser.open(f"{BEDE}/project/cupy/")
        browser.driver.execute_async_script("yard.load(document.getElementById('needs').dataset.script).then(arguments[0])")
        judged = subprocess.run([CLIENTS / "pip-new/bin/python", "-c", PIP_JUDGES], input=json.dumps([SPECIFIERS, VERSIONS]), capture_output=True, text=True, check=True)
        pages = browser.run("return arguments[0].map(wanted => arguments[1].map(version => yard.versions.satisfies(version, wanted)))", SPECIFIERS, VERSIONS)
        self.assertEqual([(wanted, version) for wanted, by_pip, here in zip(SPECIFIERS, json.loads(judged.stdout), pages)
                          for version, one, other in zip(VERSIONS, by_pip, here) if one != other], [])

    def test_two_wheels_are_compared_by_their_facts_and_requirements_and_the_address_names_them(self):
        browser = self.browser
        rows = lambda: dict(zip(browser.texts("#compare tbody th"), zip(browser.texts("#compare tbody td:nth-child(2)"), browser.texts("#compare tbody td:nth-child(3)"))))
        chosen = lambda name: browser.run("return document.querySelector(`#compare [name=${arguments[0]}]`).selectedOptions[0].text", name)
        wheel = lambda version, python: Wheel("torch", version, tags=(f"{python}-{python}-linux_aarch64",)).filename
        browser.open(PAGES["project"])
        browser.run("document.getElementById('compare').scrollIntoView()")
        wait_until(lambda: "Size" in rows())  # the one before it, for the same Python
        new = chosen("new")
        self.assertEqual((new.split("-")[1], chosen("old")), ("2.5.1", new.replace("2.5.1", "2.4.0")))
        self.assertNotIn("Requirements", rows())
        browser.run("const it = document.querySelector('#compare [name=old]'); it.selectedIndex = [...it.options].findIndex(one => one.text === arguments[0]);"
                    "it.dispatchEvent(new Event('input', {bubbles: true}))", wheel("2.3.1", "cp312"))
        wait_until(lambda: rows().get("Requirements") == ("–", "jinja2"))
        address = browser.path()
        self.assertRegex(address, r"\?old=wheel-[0-9a-f]{12}&new=wheel-[0-9a-f]{12}$")
        browser.open(f"{BEDE}/project/tqdm/")  # one wheel
        self.assertFalse(browser.texts("#compare:not([hidden])"))
        browser.driver.back()
        wait_until(lambda: rows().get("Requirements") == ("–", "jinja2") or browser.run("document.getElementById('compare').scrollIntoView()"))
        self.assertEqual(chosen("old"), wheel("2.3.1", "cp312"))
        link = browser.find(f'[aria-label="Compare {wheel("2.4.0", "cp311")} with the version before"]')
        browser.run("arguments[0].click()", link)
        wait_until(lambda: (chosen("old"), chosen("new")) == (wheel("2.3.1", "cp311"), wheel("2.4.0", "cp311")))
        wait_until(lambda: rows().get("Requirements") == ("–", "jinja2"))
        self.assertEqual(browser.complaints(), [])

    def test_a_long_description_has_its_contents_and_each_heading_an_address(self):
        browser = self.browser
        browser.open(PAGES["project"])
        browser.find(".contents summary").click()
        self.assertEqual(browser.texts(".contents li"), ["PyTorch at this site", "Built here", "Parts", "Install", "On many nodes"])
        browser.link("Install").click()
        wait_until(lambda: browser.texts(".chosen") == ["Install"])
        browser.link("For many nodes").click()  # as its author wrote it
        wait_until(lambda: browser.texts(".chosen") == ["On many nodes"])
        self.assertEqual(browser.path(), PAGES["project"] + "#readme-on-many-nodes")

    def test_every_reader_sees_a_request_why_nobody_takes_it_and_how_it_ended(self):
        browser = self.browser
        ask = {"format": "wheelyard.task/1", "index": "archer2", "package": "scipy", "version": "9.9", "python": "3.13"}
        anna = self.farm.create_token(name="anna", actions=("task",))
        task = self.post("/api/v1/tasks", anna, ask)
        cancel = (f"/api/v1/tasks/{task['id']}/cancel", anna, {"format": "wheelyard.change/1", "reason": "tested"})
        self.addCleanup(self.post, *cancel)
        browser.open("/archer2/builds/")
        wait_until(lambda: any("scipy 9.9" in text for text in browser.texts("#queue li")))
        shown = "".join(browser.texts("#queue li"))
        self.assertIn("builds for Python 3.11 only", shown)
        self.assertNotIn("anna", browser.find("main").text)
        browser.show(scripts=False)  # the rendered page has it, too
        self.addCleanup(browser.show)
        def rendered():
            browser.open("/archer2/builds/")
            return "scipy 9.9" in browser.find("#queue").text
        wait_until(rendered)
        self.assertIn("The form for this needs JavaScript", browser.find("#request").text)
        self.post(*cancel)
        def ended():
            browser.open("/archer2/builds/")
            return "scipy 9.9" in browser.find("#ended").text
        wait_until(ended)
        browser.show()
        browser.open("/archer2/builds/")
        wait_until(lambda: any("scipy 9.9" in text and "it was cancelled" in text for text in browser.texts("#ended li")))
        self.assertNotIn("scipy 9.9", browser.find("#queue").text)

    def act(self, title: str, reason: str = "") -> str:
        """Presses a button and, in its dialog, the one that does it; returns the command beside it."""
        browser, found = self.browser, f'[aria-label="{title}"]'
        wait_until(lambda: browser.run("const it = document.querySelector(arguments[0]); it?.click(); return Boolean(it)", found))
        wait_until(lambda: browser.find("dialog h2").text == title)
        if reason:
            browser.find("dialog [name=reason]").send_keys(reason)
        command = browser.find("dialog .install code").text
        browser.find("dialog p:last-child button").click()
        wait_until(lambda: not browser.texts("dialog"))
        return command

    def log_in(self, **of) -> str:
        """A token that the tab has from now on."""
        token = self.farm.create_token(of.pop("indexes", "*"), **of)
        self.browser.run("sessionStorage.setItem('wheelyard-token', arguments[0])", token)
        self.addCleanup(self.browser.run, "sessionStorage.clear()")
        return token

    def test_who_may_changes_a_wheel_on_its_page_undoes_it_and_gets_the_command_that_does_the_same(self):
        browser, page = self.browser, "/archer2/project/petsc4py/"
        wheel = Wheel("petsc4py", "3.22.1", tags=("cp311-cp311-linux_x86_64",)).filename
        shown = lambda: browser.texts("details[data-index] [data-act]")
        offered = lambda: wheel.encode() in self.farm.get("/archer2/simple/petsc4py/")[2]
        browser.open(page)
        browser.run("sessionStorage.clear()")
        browser.open(page)
        wait_until(lambda: browser.texts("#grid .build, #grid a"))
        self.assertNotIn("act.", browser.run("return [...document.scripts].map(one => one.src).join()"))  # to a visitor
        self.log_in(name="reader", actions=("read", "task"), projects=("*",))
        browser.open(page)
        wait_until(lambda: browser.run("return document.querySelector('#wheels + ul') !== null"))  # drawn, with the list of quarantine
        self.assertEqual(shown(), [])
        self.log_in(name="of-one", actions=("yank",), projects=("petsc4py",))  # who may not list files
        browser.open(page)
        wait_until(lambda: shown() == ["Yank"])
        token = self.log_in(name="keeper", actions=("read", "yank", "quarantine", "pin", "promote", "delete"), projects=("*",))
        browser.open(page)
        wait_until(lambda: shown() == ["Yank", "Quarantine", "Pin", "Promote"])
        browser.find(f'[aria-label="Yank {wheel}"]').click()
        self.assertIn("Undo: Unyank.", browser.find("dialog").text)
        self.assertIn("Needs yank in archer2.", browser.find("dialog").text)
        browser.find("dialog p:last-child button").click()  # the reason is needed
        self.assertTrue(browser.find("dialog").is_displayed())
        if not why_no_axe():
            self.assertEqual(browser.barriers(), [])
        browser.find("dialog [name=reason]").send_keys(Keys.ESCAPE)
        wait_until(lambda: not browser.texts("dialog"))
        self.assertEqual(shown(), ["Yank", "Quarantine", "Pin", "Promote"])
        # A double click on the one that first asks the registry.
        promote = f'[aria-label="Promote {wheel}"]'
        self.assertEqual(browser.driver.execute_async_script("const it = document.querySelector(arguments[0]); it.click(); it.click();"
                         "new MutationObserver(() => { if (document.querySelector('dialog')) setTimeout(() => arguments[1](document.querySelectorAll('dialog').length)); }).observe(document.body, {childList: true})", promote), 1)
        # What fails after its dialog has been left is said where it was pressed.
        browser.run("const ask = fetch; let fail; window.refused = () => { window.fetch = ask; fail(new Error('gone')); };"
                    "window.fetch = () => new Promise((done, failed) => { fail = failed; })")
        browser.find("dialog p:last-child button").click()
        browser.find("dialog [name=reason]").send_keys(Keys.ESCAPE)
        wait_until(lambda: not browser.texts("dialog"))
        browser.run("window.refused()")
        wait_until(lambda: browser.texts("details[data-index] [role=status]") == [f"Promote {wheel}: gone"])
        browser.run("window.fetch = () => Promise.reject(new Error('gone'))")  # an answer that never came is asked for again
        self.assertIsNone(browser.driver.execute_async_script("yard.act.rights_in('far.gone').then(arguments[0])"))
        browser.run("window.refused()")
        self.assertEqual(browser.driver.execute_async_script("yard.act.rights_in('far.gone').then(rights => arguments[0](rights.name))"), "keeper")
        command = self.act(f"Yank {wheel}", "it's odd")
        wait_until(lambda: shown() == ["Unyank", "Quarantine", "Pin", "Promote", "Unyank"])  # the last one is beside what was done
        self.assertEqual(browser.texts("details[data-index] [role=status]"), [f"Yank {wheel}: done. Undo: Unyank"])
        self.assertEqual(browser.texts("details[data-index] summary .state"), ["yanked"])
        self.act(f"Unyank {wheel}")
        wait_until(lambda: shown()[0] == "Yank")
        file = self.folder / "keeper.token"
        file.write_text(token)
        yanked = lambda: b"it&#39;s odd" in self.farm.get(page)[2]
        wait_until(lambda: not yanked())
        ran = self.farm.run(*[str(file) if word == "TOKEN" else word for word in shlex.split(command)])
        self.assertEqual(ran.returncode, 0, ran.stderr)
        wait_until(yanked)
        browser.open(page)
        wait_until(lambda: shown() == ["Unyank", "Quarantine", "Pin", "Promote"])
        self.act(f"Unyank {wheel}")
        self.act(f"Pin {wheel}")
        wait_until(lambda: "Unpin" in shown())
        self.act(f"Unpin {wheel}")
        self.act(f"Promote {wheel}")  # the first of the other indexes that the token may promote to
        wait_until(lambda: any("done. Undo: Quarantine" in text for text in browser.texts("details[data-index] [role=status]")))
        self.act(f"Quarantine {wheel}", "undone")  # that of the page's own index comes first
        wait_until(lambda: not offered())
        browser.open(page)
        wait_until(lambda: browser.texts("#wheels + ul button") == ["Release", "Delete"])  # a page without wheels to offer
        self.act(f"Release {wheel}", "looked at it")
        wait_until(offered)

    def test_each_row_of_what_can_be_done_has_the_right_of_its_operation_and_a_command(self):
        self.browser.open(PAGES["operators"])
        self.browser.driver.execute_async_script("yard.load(document.body.dataset.act).then(arguments[0])")
        template = {"index": "{index}", "filename": "{filename}", "project": "{project}"}
        rows = self.browser.run("return Object.entries(yard.act.rows).map(([verb, row]) => [verb, row.rights, row.others ?? null, row.not_by ?? null, row.reason ?? '', decodeURIComponent(yard.act.path_of(verb, "
                                "{...arguments[0], id: row.on === 'task' ? '{task}' : '{token}'}).join('/')), "
                                "yard.act.command_of(verb, {index: 'nonesuch', filename: 'six-1.0-py3-none-any.whl', id: 'none', package: 'six', version: '1', python: '3.11', accelerator: 'a', source_index: '=ours'},"
                                " \"it's odd\", verb === 'promote' && 'main')])", template)
        operations = {cells[1].strip(" `"): cells for cells in (line.split(" | ") for line in (ROOT / "docs/reference/operations.md").read_text().splitlines()) if len(cells) > 5
                      for cells in [["", cells[0].removeprefix("| "), *cells[1:]]]}
        token = self.folder / "any.token"
        token.write_text(self.farm.create_token("*", name="any", actions=("*",), projects=("*",)))
        retry, = re.findall(r"(?m)^\| `may_retry` \| (.*) \|$", (ROOT / "docs/reference/builds.md").read_text())
        for verb, rights, others, not_by, reason, path, command in rows:
            cells = operations["POST /api/v1/" + path]
            needed, of_others = re.findall(r"the action `(\w+)`", cells[4]), re.findall(r"of a person `(\w+)`, too, for what somebody else asked", cells[4])
            self.assertTrue(needed or cells[4] == "any token", cells)
            if verb == "retry":  # with `approve`, an agent that has given the wheel up takes it
                self.assertEqual(needed, ["task"])
                needed = re.findall(r"`(\w+)`", retry)
                self.assertIn(" --source '=ours' ", command)  # zsh expands =ours
            self.assertEqual((verb, rights, [others] if others else []), (verb, needed, of_others))
            # lifecycle.own_file and task.own_request
            self.assertEqual(not_by, {"promote": "uploaded_by", "approve": "asked_by", "reject": "asked_by"}.get(verb))
            if "`reason`" in cells[5] and "`reason`?" not in cells[5]:
                self.assertEqual(reason, "needed", verb)
            ran = self.farm.run(*[str(token) if word == "TOKEN" else word for word in shlex.split(command)])
            self.assertEqual(ran.returncode, 1, (command, ran.stderr))  # 2 would be wrong usage

    def post(self, path, token, document):
        request = urllib.request.Request(self.farm.url + path, data=json.dumps(document).encode(), headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    def test_the_front_page_searches_all_indexes_or_one(self):
        browser = self.browser
        browser.open("/")
        browser.find("[name=q]").send_keys("t")
        wait_until(lambda: set(" · ".join(browser.texts("#results .card > p:nth-of-type(2)")).split()) >= set(SAMPLE_INDEXES))
        browser.find("[name=index]").send_keys("archer2")
        wait_until(lambda: set(browser.texts("#results .card > p:nth-of-type(2)")) == {"archer2"})
        browser.open("/?q=h5py")  # several have it: one card, whose links lead to each
        wait_until(lambda: browser.texts("#results .card h3 a") == ["h5py"])
        self.assertEqual({text.split()[0] for text in browser.texts("#results .card > p a")}, set(SAMPLE_INDEXES))
        self.assertIn("1 project", browser.find("#count").text)
        browser.open(f"{BEDE}/project/?q=t")
        wait_until(lambda: browser.texts("#results .card"))
        self.assertFalse(browser.find("[name=index]").is_displayed())

    def test_the_keyboard_alone_leads_to_the_install_line(self):
        browser = self.browser
        browser.open("/")
        wait_until(lambda: self.focused() == "q")
        self.press("torch", Keys.ENTER)  # the name leads to its project
        wait_until(lambda: browser.path() == PAGES["project"])
        self.press(Keys.TAB)
        self.assertEqual(self.focused(), "Skip to the content")
        self.press(Keys.ENTER)
        for _ in range(4):
            if self.focused() == "Copy":
                break
            self.press(Keys.TAB)
        self.assertEqual(self.focused(), "Copy")
        width = browser.run("return getComputedStyle(document.activeElement).outlineWidth")
        self.assertEqual(width, "3px")

    def test_a_wheel_leads_to_its_bill_of_materials(self):
        browser = self.browser
        browser.open(PAGES["project"])
        wait_until(lambda: browser.texts("details[open] .sbom a") == ["SBOM"])
        with urllib.request.urlopen(browser.find("details[open] .sbom a").get_attribute("href")) as reply:
            self.assertEqual(json.load(reply)["bomFormat"], "CycloneDX")

    def test_what_failed_and_was_built_since_is_said(self):
        wheel = {"package": "yard-nine", "version": "1.0", "python": "3.12"}
        report = {"format": "wheelyard.site/1", "site": "konrad", "index": "far", "time": moment(0), "pythons": [], "nodes": [], "attempts": [], "cells": [wheel | {"state": "have", "reason": ""}],
                  "failures": [wheel | {"attempt": "w1kq7x9aab3zzz", "phase": "build", "began": moment(15), "ended": moment(10), "cause": "error: out of luck"},
                               wheel | {"version": "2.0", "attempt": "w1kq7x9aab3zzy", "phase": "build", "began": moment(15), "ended": moment(10), "cause": "error: out of luck"}]}
        report_sites(self.farm, self.farm.create_token("far", actions=("upload",), projects=("*",)), {"konrad": report})
        self.browser.open("/far/builds/")
        wait_until(lambda: self.browser.texts("#failures .card .state") == ["built since", "failed"])

    def show_history(self):
        self.browser.run("document.getElementById('agents').scrollIntoView()")  # its list is asked for where it is seen
        wait_until(lambda: self.browser.find("#history").is_displayed())

    def test_what_is_broken_and_what_was_is_said_in_a_line_and_in_lists(self):
        browser = self.browser
        self.addCleanup(browser.run, "sessionStorage.clear()")
        browser.open(PAGES["builds"])
        wait_until(lambda: browser.find("#well").text.startswith("2 builds failed"))
        browser.link("2 builds failed").click()
        self.assertTrue(browser.path().endswith("#failed"))
        waits, = (text for text in browser.texts("#queue li") if "flash-attn 2.7.0" in text)
        self.assertRegex(waits, r"queued (just now|\d+ (second|minute)s? ago)")
        self.show_history()
        built, = (text for text in browser.texts("#history li") if "torch 2.5.1" in text and "Python 3.12" in text)
        self.assertIn("took 1 h 30 min", built)
        failed, = (text for text in browser.texts("#history li") if "horovod 0.28.1" in text)
        self.assertIn("took 51 min 00 s", failed)
        self.assertIn("Killed signal terminated program cc1plus", failed)
        browser.open("/archer2/builds/")
        wait_until(lambda: browser.find("#well").text == "1 site is late.")
        browser.open(PAGES["index"])
        wait_until(lambda: browser.find("#week").is_displayed())
        self.assertRegex(browser.find("#week p").text, r"^\d+ new,.* \d+ yanked, 2 failed\.$")
        shown = [text for text in browser.texts("#week li") if "torch-2.3.1-cp311" in text and "yanked" in text]
        self.assertEqual(len(shown), 1)
        self.assertIn("gives wrong results on several nodes", shown[0])
        browser.open(PAGES["operators"])
        browser.find("[name=token]").clear()
        browser.find("[name=token]").send_keys(self.farm.create_token("*", name="watcher", actions=("quarantine", "read"), projects=("*",)), Keys.ENTER)
        wait_until(lambda: re.fullmatch(r"\d+ late sites?, \d+ failed builds?.*\.", browser.find("#well").text))

    def test_without_scripts_every_page_shows_its_content(self):
        browser = self.browser
        browser.show(scripts=False)
        try:
            for path, words in (("/", ("bede-gh200", "1 being built now", "torch 2.6.0", "h5py")), (f"{BEDE}/project/", ("torch", "tqdm")),
                                (PAGES["project"], ("pip install --index-url https://THIS-SERVER/bede-gh200/simple/ torch==2.5.1", "building",
                                                    "no space left on the scratch disk", "libmpi.so.40", "differ only in case", "Rename one of them")),
                                (PAGES["site"], ("torch", "2.5.1", "libmpi.so.40", "torch 2.6.0", "Killed signal")), (PAGES["sites"], ("bede", "gh (gh200)")),
                                (PAGES["builds"], ("4312 of 7291 steps", "Killed signal", "Raise memory_mib", "The form for this needs JavaScript")),
                                (PAGES["operators"], ("This page needs JavaScript",))):
                browser.open(path)
                text = browser.find("main").text
                for word in words:
                    self.assertIn(word, text, path)
                self.assertEqual([form for form in browser.driver.find_elements("css selector", "form") if form.is_displayed()], [], path)
        finally:
            browser.show()

    def test_a_project_leads_to_its_failed_build_and_that_says_what_to_do(self):
        browser = self.browser
        browser.open(PAGES["project"])
        browser.run("[...document.links].find(link => link.textContent === 'failed').click()")  # in one step: the script replaces it
        wait_until(lambda: browser.texts(".chosen h3") == ["torch 2.5.1 failed"])
        wait_until(lambda: any("What to do: Free space below /nobackup" in text for text in browser.texts(".chosen")))  # the script renders it again

    def test_a_missing_project_has_names_like_it_and_what_the_sites_know_of_it(self):
        browser = self.browser
        browser.open(f"{BEDE}/project/trch/")
        wait_until(lambda: browser.texts("#results h3 a") == ["torch"])
        self.assertIn("Names like it", browser.find("#count").text)
        self.assertFalse(browser.find("#known").is_displayed())
        browser.open(f"{BEDE}/project/horovod/")
        wait_until(lambda: browser.texts("#known .state") == ["failed"])
        wait_until(lambda: browser.texts("#count a") == ["Ask for horovod", "Look in all indexes"])
        self.assertIn("the compiler was killed for lack of memory", browser.find("#known").text)
        browser.link("failed").click()
        wait_until(lambda: browser.texts(".chosen h3") == ["horovod 0.28.1 failed"])
        self.assertEqual([text for text in browser.complaints() if "404" not in text], [])

    def test_a_quiet_link_leads_to_the_page_for_operators(self):
        browser = self.browser
        for path in ("/", f"{BEDE}/"):
            browser.open(path)
            wait_until(lambda: browser.find("footer a").is_displayed())
            browser.link("For operators").click()
            wait_until(lambda: browser.path() == PAGES["operators"])

    def hold_tqdm(self):
        """Its only wheel is in quarantine until the test ends."""
        change = lambda verb: self.farm.run("wheelyard-registry", verb, "bede-gh200", "tqdm-4.67.0-py3-none-any.whl", "--reason", "odd", "-c", self.farm.config).returncode
        self.assertEqual(change("quarantine"), 0)
        self.addCleanup(change, "release")

    def test_an_operator_types_the_name_of_an_index(self):
        browser = self.browser
        self.hold_tqdm()
        def counts(path, text):
            browser.open(path)
            return text in browser.find("main").text
        for path in ("/", f"{BEDE}/project/"):  # what a visitor can install: tqdm has no other wheel
            wait_until(lambda: counts(path, "8 projects"))
        browser.open(PAGES["operators"])
        self.addCleanup(browser.run, "sessionStorage.clear()")
        token = self.farm.create_token("*", name="operator", actions=("quarantine", "delete", "read"), projects=("*",))
        browser.find("[name=token]").send_keys(token, Keys.ENTER)
        wait_until(lambda: any("tqdm" in text for text in browser.texts("#quarantine tbody th")))  # of all indexes
        self.assertIn("bede-gh200", browser.texts("#quarantine tbody td"))
        self.assertEqual(browser.texts("#files tbody td"), ["Type a part of a name above."])
        for index, shown in (("bede-gh200", True), ("lab", False)):
            field = browser.find("[name=index]")
            field.clear()
            field.send_keys(index, Keys.ENTER)
            wait_until(lambda: any("tqdm" in text for text in browser.texts("#quarantine tbody th")) == shown)
        wait_until(lambda: browser.texts("#quarantine tbody td") == ["None."])  # empty until the answer is there
        # A wrong token shows nothing of the one before it.
        field = browser.find("[name=token]")
        field.clear()
        field.send_keys("wy_wrong", Keys.ENTER)
        wait_until(lambda: len(browser.texts("#tokens tbody td")) == 1 and len(browser.texts("#storage tbody td")) == 1)
        self.assertEqual(browser.texts("#indexes tbody th"), [])

    def test_an_operator_sees_agents_and_failures_of_all_indexes_and_finds_a_file_and_its_history(self):
        browser, wheel = self.browser, "dask-2026.10.0-py3-none-any.whl"  # which no other test changes
        self.addCleanup(browser.run, "sessionStorage.clear()")
        silent = {"format": "wheelyard.site/1", "site": "zuse", "index": "lab", "time": "2026-01-02T03:04:05.000000Z", "pythons": [], "nodes": [], "cells": [], "attempts": []}
        report_sites(self.farm, self.farm.create_token("lab", actions=("upload",), projects=("*",)), {"zuse": silent})
        self.farm.get("/far/simple/yard-six/")  # whose upstream is gone
        keeper = self.farm.create_token("*", name="keeper", actions=("yank", "quarantine", "delete", "read", "audit"), projects=("*",))
        for verb in ("yank", "unyank") * 26:  # more than are shown at once
            urllib.request.urlopen(urllib.request.Request(
                f"{self.farm.url}/api/v1/indexes/bede-gh200/files/{wheel}/{verb}", data=b'{"format": "wheelyard.change/1", "reason": "a trial"}',
                headers={"Authorization": f"Bearer {keeper}"})).close()
        browser.open(PAGES["operators"])
        browser.find("[name=token]").clear()
        browser.find("[name=token]").send_keys(keeper, Keys.ENTER)
        wait_until(lambda: len(browser.texts("#agents tbody th")) == 3)
        # Those that are late come first, whatever their names.
        self.assertEqual(list(zip(browser.texts("#agents tbody th"), browser.texts("#agents .state"))), [("archer2", "late"), ("zuse", "late"), ("bede", "reports")])
        wait_until(lambda: any("horovod 0.28.1" in text for text in browser.texts("#failures tbody th")))
        wait_until(lambda: browser.find("#find").is_displayed())
        browser.find("#find [name=file]").send_keys("torch-2.3.1-cp311", Keys.ENTER)
        wait_until(lambda: browser.texts("#files tbody td:nth-child(3)") == ["active, yanked"])
        browser.find("#find [name=file]").clear()
        browser.find("#find [name=file]").send_keys("K-2026.10.0-PY3", Keys.ENTER)  # a part, in any case
        wait_until(lambda: wheel in browser.texts("#files tbody th"))
        self.assertEqual(browser.texts("#files tbody td:nth-child(3)"), ["active"])
        self.assertTrue(browser.texts("#files tbody td:nth-child(5)")[0].startswith("sample, "))
        browser.find(f'#files [aria-label="Changes of {wheel}"]').click()
        wait_until(lambda: set(browser.texts("#changes tbody td:nth-child(4)")) == {wheel})
        kinds = lambda: browser.texts("#changes tbody td:nth-child(2)")
        self.assertEqual((len(kinds()), "file added" in kinds()), (50, False))
        browser.find("#audit [name=older]").click()
        wait_until(lambda: "file added" in kinds())
        self.assertFalse(browser.find("#audit [name=older]").is_displayed())
        who = lambda: set(browser.texts("#changes tbody td:nth-child(5)"))
        browser.find("#audit [name=who]").send_keys("sample", Keys.ENTER)
        wait_until(lambda: who() == {"sample"})
        self.assertEqual(kinds(), ["file added"])
        # Each filter and page has an address, and Back leads to the one before.
        self.assertIn("who=sample", browser.run("return location.search"))
        browser.driver.back()
        wait_until(lambda: len(kinds()) == 3)
        self.assertEqual(browser.find("#audit [name=who]").get_attribute("value"), "")
        browser.driver.forward()
        wait_until(lambda: kinds() == ["file added"])
        self.assertEqual(browser.find("#audit [name=who]").get_attribute("value"), "sample")
        self.assertIn("/simple/yard-six/", " ".join(browser.texts("#upstreams tbody td")))
        months = browser.texts("#growth tbody th")  # two where one ends meanwhile
        self.assertTrue(months and set(months) <= {self.began_month, moment()[:7]}, months)
        browser.run("document.querySelector('#audit [name=until]').value = '2000-01-01'")
        browser.find("#audit [name=who]").send_keys(Keys.ENTER)
        wait_until(lambda: browser.texts("#changes tbody td") == ["None."])
        browser.run("document.querySelector('#audit').reset()")
        browser.find("#audit [name=action]").send_keys("file yanked", Keys.ENTER)
        wait_until(lambda: set(kinds()) == {"file yanked"})

    def test_an_operator_reads_what_a_file_was_built_from(self):
        browser = self.browser
        self.addCleanup(browser.run, "sessionStorage.clear()")
        path = Wheel("traced", "1.0").write(self.folder)
        stated = {"format": "wheelyard.provenance/1", "site": "bede", "wheel": {"filename": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()},
                  "source": {"kind": "sdist", "origin": "https://code.example.org/traced-1.0.tar.gz"}}
        status, problem = RawUpload(self.farm, self.farm.create_token("lab", actions=("upload",), projects=("*",)), path, "lab", wheelyard_provenance=json.dumps(stated)).send()
        self.assertEqual(status, 200, problem)
        token = self.farm.create_token("*", name="reader", actions=("quarantine", "delete", "read"), projects=("*",))
        browser.open(PAGES["operators"])
        browser.find("[name=token]").clear()
        browser.find("[name=token]").send_keys(token, Keys.ENTER)
        wait_until(lambda: browser.find("#find").is_displayed())
        for name, shown in ((path.name, "source https://code.example.org/traced-1.0.tar.gz, built at bede"), ("tqdm-4.67.0-py3-none-any.whl", "provenance")):
            field = browser.find("#find [name=file]")
            field.clear()
            field.send_keys(name, Keys.ENTER)
            wait_until(lambda: browser.texts("#files tbody th") == [name])
            browser.find(f'#files [aria-label="Source of {name}"]').click()
            wait_until(lambda: any(text.startswith(name + ": ") and shown in text for text in browser.texts("#lists > p")))
        # What is held back is looked at before it is released.
        hold = lambda verb: self.farm.run("wheelyard-registry", verb, "lab", path.name, "--reason", "odd", "-c", self.farm.config).returncode
        self.assertEqual(hold("quarantine"), 0)
        self.addCleanup(hold, "release")
        browser.driver.refresh()
        wait_until(lambda: path.name in browser.texts("#quarantine tbody th"))
        self.assertTrue(browser.find("#quarantine td a[href*='lab/project/traced']"))
        browser.find(f'#quarantine [aria-label="Source of {path.name}"]').click()
        wait_until(lambda: any("built at bede" in text for text in browser.texts("#part-quarantine + p")))

    def test_an_operator_approves_what_a_stranger_asks_for_and_refuses_the_other(self):
        browser = self.browser
        self.addCleanup(browser.run, "sessionStorage.clear()")
        browser.run("sessionStorage.clear()")
        browser.open(f"{BEDE}/builds/?package=numpy&version=2.1.0&python=3.12")  # where only tokens ask: no dialog of the browser's own
        wait_until(lambda: browser.find("#request-form button").is_displayed())
        browser.find("#request-form button").click()
        wait_until(lambda: browser.find("#request-answer").text == "This index takes requests only with a token.")
        for python in ("3.12", "3.13"):
            browser.open(f"/archer2/builds/?package=numpy&version=2.1.0&python={python}")
            wait_until(lambda: browser.find("#request-form button").is_displayed())
            browser.find("#request-form button").click()
            wait_until(lambda: any("awaits approval" in text for text in browser.texts("#requests li")))
        page = browser.find("#requests a").get_attribute("href").removeprefix(self.farm.url)  # of the one for 3.13
        browser.open(PAGES["operators"] + "?index=archer2")
        token = self.farm.create_token(name="approver", actions=("approve", "task"))
        browser.find("[name=token]").send_keys(token, Keys.ENTER)
        rows = lambda: [text for text in browser.texts("#requests tbody tr") if "numpy 2.1.0" in text]
        wait_until(lambda: len(rows()) == 2)
        self.assertEqual([("public:" in text, "recipe" in text) for text in rows()], [(True, True)] * 2)
        self.act("Approve numpy 2.1.0")  # the first: for 3.12
        wait_until(lambda: len(rows()) == 1)
        self.assertEqual(browser.find("#operate-answer").text, "Approve numpy 2.1.0: done. Undo: Cancel")
        browser.open(page)  # the other on its own page
        wait_until(lambda: browser.texts("button[data-act]") == ["Approve", "Refuse"])
        self.act("Refuse numpy 2.1.0", "too new")
        wait_until(lambda: "cancelled" in browser.find("#title").text)
        browser.run("sessionStorage.clear()")
        browser.open(page)
        wait_until(lambda: "cancelled" in browser.find("#title").text)
        self.assertIn("rejected by approver: too new", browser.find("main").text)  # whoever reads the index reads its logs and names
        asked = lambda: sorted((one for one in json.loads(self.farm.get("/archer2/status.json")[2])["requests"] if one["package"] == "numpy"), key=lambda one: one["python"])
        wait_until(lambda: [one["state"] for one in asked()] == ["queued", "cancelled"])
        left, refused = asked()
        self.assertEqual((left["python"], left["state"]), ("3.12", "queued"))
        self.assertEqual((refused["python"], refused["state"], refused["reason"]), ("3.13", "cancelled", "an operator refused it"))
        self.post(f"/api/v1/tasks/{left['id']}/cancel", token, {"format": "wheelyard.change/1", "reason": "tested"})

    def test_a_log_shows_the_last_state_of_a_line_and_an_old_token_of_the_tab_hides_nothing(self):
        browser = self.browser
        request = urllib.request.Request(f"{self.farm.url}/api/v1/indexes/bede-gh200/builds/bede/w1kq7x9aab3aaa/log?offset=0", data=b"10%\r20%\r30%\r\nsecond\nc++: fatal error: Killed signal terminated program cc1plus\nend\n",
                                         headers={"Authorization": f"Bearer {self.farm.create_token(name='logs')}"})
        urllib.request.urlopen(request).close()
        browser.open("/")
        browser.run("sessionStorage.setItem('wheelyard-token', 'wy_old')")
        self.addCleanup(browser.run, "sessionStorage.clear()")
        browser.open(PAGES["log"] + "#L2")
        wait_until(lambda: [text[:8] for text in browser.texts("pre.lines .line")] == ["130%", "2second", "3c++: fa", "4end"])
        self.assertEqual(browser.texts("pre.lines .chosen"), ["2second"])
        browser.link("In the log: line 3").click()  # why it failed
        wait_until(lambda: browser.texts("pre.lines .chosen") == ["3c++: fatal error: Killed signal terminated program cc1plus"])
        self.assertEqual(browser.texts("#build .note code"), ["memory_mib"])
        # The button below what to do copies the command alone.
        browser.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        browser.find("#build .note button").click()
        wait_until(lambda: browser.find("#build .note button").text == "Copied")
        self.assertEqual(browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])"),
                         "wheelyard-builder retry horovod-0.28.1-cp312-gh200 --site site.toml")

    def append_log(self, build: str, offset: int, text: bytes) -> None:
        request = urllib.request.Request(f"{self.farm.url}/api/v1/indexes/bede-gh200/builds/bede/{build}/log?offset={offset}", data=text,
                                         headers={"Authorization": f"Bearer {self.farm.create_token(name='logs')}"})
        urllib.request.urlopen(request).close()

    def test_a_link_to_a_line_of_a_log_shows_the_line_also_one_that_comes_later(self):
        browser, build = self.browser, "w1kq7x9aab3cde"  # which runs, longer than others did
        page = f"{BEDE}/builds/build.html?site=bede&id={build}"
        browser.open(page)
        wait_until(lambda: browser.texts("pre.lines .line") == ["Nothing yet."])
        self.assertFalse(browser.find("#build .search input").is_displayed())
        self.assertIn(" was expected to end ", browser.find("#build").text)
        lines = [b"line %d\n" % number for number in range(1, 401)]
        self.append_log(build, 0, b"".join(lines[:200]))
        path = f"/api/v1/indexes/bede-gh200/builds/bede/{build}/log?offset=0"
        status, fields, body = self.farm.get(path, headers={"Accept-Encoding": "gzip"})
        self.assertEqual((status, fields["Content-Encoding"], gzip.decompress(body)), (200, "gzip", b"".join(lines[:200])))
        self.assertEqual(self.farm.get(path)[2], b"".join(lines[:200]))
        in_view = lambda number: browser.run(
            "const line = document.getElementById('L' + arguments[0]); if (!line) return false; const one = line.getBoundingClientRect(), box = line.parentElement.getBoundingClientRect();"
            "return line.matches('.chosen') && one.top >= 0 && one.bottom <= innerHeight && one.top >= box.top - 1 && one.bottom <= box.bottom + 1", number)
        for size in (WIDE, NARROW):
            browser.show(size=size)
            browser.open("/")
            browser.open(page + "#L34")
            wait_until(lambda: in_view(34))
            self.assertGreater(browser.run("return scrollY"), 0)  # the log is below the first screen
        browser.open("/")
        browser.open(page + "#L390")
        wait_until(lambda: len(browser.texts("pre.lines .line")) == 200)
        self.append_log(build, len(b"".join(lines[:200])), b"".join(lines[200:]))
        wait_until(lambda: in_view(390))
        browser.run("location.hash = '#L2'")
        wait_until(lambda: in_view(2))

    def test_a_node_type_that_no_site_reports_is_said_and_not_chosen(self):
        browser = self.browser
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        browser.open(PAGES["project"] + "?node=nonesuch")
        wait_until(lambda: "the node type “nonesuch”" in "".join(browser.texts("#no-node")))
        self.assertEqual(browser.find("#machine strong").text, "any")
        self.assertIn("torch==2.5.1", browser.find("#install-line").text)

    def test_a_machine_of_another_index_is_found_by_its_address_alone(self):
        browser = self.browser
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        browser.open(PAGES["project"] + "?node=archer2,%20standard")
        wait_until(lambda: browser.find("#install-note").text == "archer2, standard is of another index than this page: archer2.")
        self.assertFalse(browser.texts("#no-node"))

    def test_what_a_site_reports_of_the_chosen_machine_replaces_what_was_kept(self):
        browser = self.browser
        browser.open(PAGES["project"])
        self.choose(node=GH)
        kept = lambda: json.loads(browser.run("return localStorage.getItem('wheelyard-machine')") or "null")
        wait_until(lambda: kept() and "sm_90" in kept()["gpus"])
        browser.run("localStorage.setItem('wheelyard-machine', JSON.stringify({...arguments[0], gpus: [], seen: 0}))", kept())
        browser.open(PAGES["project"])
        wait_until(lambda: "sm_90" in kept()["gpus"])

    def test_a_project_shows_a_request_while_it_is_open_and_once_it_has_failed_with_its_cause_and_page(self):
        browser = self.browser
        agent = self.farm.create_token(name="agent", actions=("build", "task"))
        task = self.post("/api/v1/tasks", agent, {"format": "wheelyard.task/1", "index": "bede-gh200", "package": "cupy", "version": "12.0", "python": "3.12"})["id"]
        page = f"{BEDE}/builds/request.html?id={task}"
        links = lambda: [(text, url.removeprefix(self.farm.url)) for text, url in browser.run(
            "return [...document.querySelectorAll(\"#grid td[data-version='12.0'] .build a\")].map(link => [link.textContent, link.href])")]
        browser.show(scripts=False)  # the rendered page has its row
        self.addCleanup(browser.show)
        def rendered(word):
            browser.open(f"{BEDE}/project/cupy/")
            return word in browser.find("#grid").text
        wait_until(lambda: rendered("asked for"))
        browser.show()
        browser.open(f"{BEDE}/project/cupy/?node={GH}")
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        wait_until(lambda: browser.find("#machine strong").text == GH)
        wait_until(lambda: links() == [("asked for", page)])
        self.assertNotIn("nobody asked", self.cell("12.0", "3.12"))
        claimed = self.post("/api/v1/tasks/claim", agent, {"format": "wheelyard.claim/2", "index": "bede-gh200", "agent": "bede.login1", "pythons": ["3.12"],
                                                           "accelerators": [], "packages": ["cupy"], "room": 100})
        self.assertIn(task, [one["id"] for one in claimed["tasks"]])
        self.post(f"/api/v1/tasks/{task}/outcome", agent, {
            "format": "wheelyard.outcome/1", "attempt": "w1", "site": "bede", "result": "failed", "phases": [],
            "diagnosis": {"phase": "build", "code": "x", "sentence": "error: out of luck"}})
        browser.run("dispatchEvent(new Event('status'))")
        wait_until(lambda: links() == [("failed", page)] or browser.run("dispatchEvent(new Event('status'))"))
        self.assertIn("out of luck", self.cell("12.0", "3.12"))
        browser.show(scripts=False)
        wait_until(lambda: rendered("out of luck"))

    def test_of_several_requests_for_a_wheel_the_newest_counts_and_a_cell_of_a_site_more(self):
        self.browser.open(PAGES["project"])
        asked = [{"id": "5", "version": "1", "state": "queued"}, {"id": "4", "version": "2", "state": "done", "ended": "1"}, {"id": "3", "version": "2", "state": "failed", "ended": "1"},
                 {"id": "2", "version": "3", "state": "failed", "ended": "1"}, {"id": "1", "version": "4", "state": "failed", "ended": "1"}]
        wheel = {"package": "six", "python": "3.12"}
        data = {"sites": [{"site": "bede", "cells": [wheel | {"version": "4", "state": "have"}]}], "requests": [wheel | one for one in asked]}
        states = self.browser.run("return yard.states_of(arguments[0], 'six').map(one => [one.state, one.page ?? one.site])", data)
        self.assertEqual(states, [["queued", "request.html?id=5"], ["failed", "request.html?id=2"], ["have", "bede"]])
        self.assertEqual(self.browser.run("return yard.state({state: 'have'})[0].textContent"), "built")  # the index may not offer it

    def test_a_phone_shows_what_an_installer_will_lack_without_scrolling_to_the_requirements(self):
        browser = self.browser
        self.addCleanup(browser.show, size=WIDE)
        browser.show(size=NARROW)
        browser.open(PAGES["project"])
        wait_until(lambda: "filelock" in browser.find("#install-lacks").text)
        self.assertEqual(browser.run("return scrollY"), 0)

    def test_where_no_wheel_runs_the_box_says_why_and_what_would_and_has_nothing_to_copy(self):
        browser = self.browser
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        said = lambda: browser.find("#install-why").text
        browser.open("/")
        self.choose(node="archer2, standard", python="3.11")  # of another index, whose machines report no type
        report = reports()["archer2"] | {"machine": "x86_64"}
        report_sites(self.farm, self.farm.create_token(name="sites"), {"archer2": report})
        self.addCleanup(report_sites, self.farm, self.farm.create_token(name="sites"), {"archer2": reports()["archer2"]})
        def knows_machine():
            browser.run("localStorage.clear(); sessionStorage.clear()")
            browser.open("/?node=archer2,%20standard&python=3.11")
            return "x86_64" in (browser.run("return sessionStorage.getItem('wheelyard-machine')") or "")
        wait_until(knows_machine)
        browser.open(PAGES["project"])
        wait_until(lambda: said() == "No wheel for archer2, standard: for aarch64, here is x86_64. This index has one for bede, gh (gh200) (torch==2.5.1). Ask for one")
        self.assertFalse(browser.find("#way-pip button").is_displayed())
        self.assertNotIn("pip install", browser.find("#install-line").text)
        self.assertIn("/archer2/builds/?package=torch", browser.find("#install-why a").get_attribute("href"))
        self.assertIn("for aarch64, here is x86_64", self.cell("2.5.1", "3.12"))
        self.assertEqual(browser.find("#install-note").text, "archer2, standard is of another index than this page: archer2.")
        browser.open(f"{BEDE}/project/dask/")  # any machine's
        wait_until(lambda: "dask==2026.10.0" in browser.find("#install-line").text)
        self.assertFalse(said())
        # Another Python of a machine for which there are wheels.
        browser.open(PAGES["project"] + f"?node={GH}&my_python=3.13")
        wait_until(lambda: said() == f"No wheel for Python 3.13 on {GH}: those here are for Python 3.11 (torch==2.5.1), 3.12 (torch==2.5.1). Ask for one")

    def test_every_search_ends_with_what_to_do_next(self):
        browser = self.browser
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        links = lambda: {text: url.removeprefix(browser.url) for text, url in  # in one step: the script replaces them
                         browser.run("return [...document.querySelectorAll('#count a, #results a, #elsewhere a')].map(link => [link.textContent, link.href])")}
        browser.open("/?q=horovod")  # no wheel, and a build that has failed
        wait_until(lambda: "horovod 0.28.1" in links() and "Ask for horovod in far" in links())  # each index answers by itself
        wait_until(lambda: "failed" in browser.find("#results h3").text)
        self.assertEqual(links(), {"horovod 0.28.1": f"{BEDE}/builds/#build-w1kq7x9aab3aaa", "Ask for horovod in bede-gh200": f"{BEDE}/builds/?package=horovod",
                                   "Ask for horovod in archer2": "/archer2/builds/?package=horovod", "Ask for horovod in far": "/far/builds/?package=horovod"})
        self.assertIn("the compiler was killed for lack of memory", browser.find("#results").text)
        browser.open(f"{BEDE}/project/?q=petsc4py")  # of another index alone
        wait_until(lambda: {"Look in all indexes", "petsc4py in archer2"} <= set(links()))
        self.assertEqual((links()["Ask for petsc4py"], links()["petsc4py in archer2"]), (f"{BEDE}/builds/?package=petsc4py", "/archer2/project/petsc4py/"))
        browser.link("Look in all indexes").click()
        wait_until(lambda: links().get("petsc4py") == "/archer2/project/petsc4py/")
        browser.open(f"{BEDE}/project/petsc4py/")  # its 404 names that index
        wait_until(lambda: links().get("archer2") == "/archer2/project/petsc4py/")
        # By what people import, what a wheel uses, needs and contains.
        for question, found in (("yaml", "pyyaml"), ("torch cuda", "torch"), ("h5py mpi", "h5py"), ("libmpi_gnu_123.so.12", "mpi4py"), ("libcublas.so.12", "torch"), ("pytorch", "torch"),
                                ("torch gh200", "torch"), ("torch==2.5.1", "torch"), ("v100 torch", "torch")):
            browser.open("/?q=" + question)
            wait_until(lambda: found in links())

    def test_a_search_with_hits_also_says_that_a_project_of_this_name_is_asked_for(self):
        browser = self.browser
        token = self.farm.create_token(name="asker", actions=("task",))
        task = self.post("/api/v1/tasks", token, {"format": "wheelyard.task/1", "index": "bede-gh200", "package": "scipy", "version": "1.14.1", "python": "3.12"})["id"]
        titles = lambda: [text.strip() for text in browser.texts("#results h3")]

        def found(path):
            browser.open(path)
            wait_until(lambda: browser.texts("#results h3") and "project" in browser.find("#count").text)
            return "scipy 1.14.1 asked for" in titles()
        # cupy is "NumPy and SciPy for GPUs"; none has "scipy" and "torch", which is a project of its own.
        for path, hit, said in (("/?q=scipy", "cupy 13.3.0", "1 project. No wheel of scipy, but the sites know of it."),
                                ("/?q=torch+scipy", "torch 2.5.1", "No wheel of scipy, but the sites know of it. No project has all of these words. Without scipy:")):
            wait_until(lambda: found(path))
            self.assertEqual(titles()[0], "scipy 1.14.1 asked for")
            self.assertIn(hit, titles())
            self.assertEqual(browser.find("#count").text, said)
        self.assertEqual(browser.run("return [...document.querySelectorAll('#results a')][0].getAttribute('href')"), f"bede-gh200/project/../builds/request.html?id={task}")
        self.post(f"/api/v1/tasks/{task}/cancel", token, {"format": "wheelyard.change/1", "reason": "tested"})

    def test_a_failed_build_is_retried_in_the_browser_by_who_approves_requests(self):
        browser = self.browser
        self.addCleanup(browser.run, "sessionStorage.clear()")
        browser.open(PAGES["log"])
        wait_until(lambda: "horovod 0.28.1" in browser.find("#title").text)
        self.assertNotIn("Retry", browser.texts("#build button"))
        self.assertIn("Retry is here for tokens that approve requests.", browser.find("#build").text)
        self.assertIn("This is for the staff of bede", browser.find("#build").text)
        browser.run("sessionStorage.setItem('wheelyard-token', arguments[0])", self.farm.create_token(name="reader", actions=("read",)))
        browser.driver.refresh()
        wait_until(lambda: "ask the farm's operators" in browser.find("#build").text)
        token = self.farm.create_token(name="approver", actions=("approve", "task"))
        browser.run("sessionStorage.setItem('wheelyard-token', arguments[0])", token)
        browser.driver.refresh()
        self.assertIn("task add bede-gh200 horovod 0.28.1 --python 3.12 --accelerator gh200 --url", self.act("Retry horovod 0.28.1"))
        wait_until(lambda: browser.path().startswith(f"{BEDE}/builds/request.html?id="))
        wait_until(lambda: "horovod 0.28.1" in browser.find("#title").text and "asked for" in browser.find("#title").text)
        self.post(f"/api/v1/tasks/{browser.path().partition('=')[2]}/cancel", token, {"format": "wheelyard.change/1", "reason": "tested"})

    def test_a_retry_asks_for_the_uploaded_source_again(self):
        browser, build = self.browser, "w1kq7x9aab3d0e"
        token = self.farm.create_token(name="uploader", actions=("upload", "task"))
        status, problem = RawUpload(self.farm, token, Sdist("sourced").write(self.folder), "archer2").send()
        self.assertEqual(status, 200, problem)
        of = {"package": "sourced", "version": "1.0", "python": "3.11", "accelerator": ""}
        asked = self.post("/api/v1/tasks", token, {"format": "wheelyard.task/1", "index": "archer2", **of, "source": {"index": "archer2"}})
        browser.open("/archer2/builds/")
        self.log_in(name="approver", actions=("approve", "task"))

        def retried(button: str) -> None:
            self.assertIn("sourced 1.0 --python 3.11 --source archer2 ", self.act(button))
            wait_until(lambda: browser.path().startswith("/archer2/builds/request.html") and asked["id"] not in browser.path() and browser.texts("button[data-act]") == ["Cancel"])  # their own
            again = json.loads(self.farm.get("/api/v1/tasks/" + browser.path().partition("=")[2], headers={"Authorization": f"Bearer {token}"})[2])
            self.assertEqual((again["source"], again["state"]), (asked["source"], "awaits_approval"))
            self.act("Cancel sourced 1.0", "not now")
            wait_until(lambda: browser.texts("#title .state") == ["cancelled"])

        browser.open(f"/archer2/builds/request.html?id={asked['id']}")
        self.act("Refuse sourced 1.0", "not yet")
        retried("Retry sourced 1.0")  # the undo, or the button of a request that was refused: the same
        self.addCleanup(lambda: report_sites(self.farm, token, {"archer2": reports()["archer2"]}))
        began, sha256 = moment(-1), asked["source"]["sha256"]  # after the requests, whatever is cut off a second
        for part, one in (("attempts", of | {"id": build, "state": "running", "began": began, "source": "sourced-1.0.tar.gz", "source_sha256": sha256}),
                          ("failures", of | {"attempt": build, "began": began, "ended": moment(-2), "cause": "error"})):
            document = reports()["archer2"]
            document[part] = [one]
            report_sites(self.farm, token, {"archer2": document})
        browser.open(f"/archer2/builds/build.html?site=archer2&id={build}")
        retried("Retry sourced 1.0")

    def test_a_build_its_request_its_wheel_and_its_source_lead_to_each_other(self):
        browser, build = self.browser, "w1kq7x9aab3d0d"
        token = self.farm.create_token(name="linker", actions=("upload", "task"))
        of = {"package": "linked", "version": "1.0", "python": "3.12", "accelerator": ""}
        task = self.post("/api/v1/tasks", token, {"format": "wheelyard.task/1", "index": "archer2", **of})["id"]
        self.addCleanup(lambda: report_sites(self.farm, token, {"archer2": reports()["archer2"]}))
        began = moment(-1)  # after the request, whatever is cut off a second
        running = of | {"id": build, "state": "running", "began": began, "source": "https://code.example.org/linked@v1.0 (3f2a9c8)", "source_sha256": "5a" * 32}
        finished = of | {"attempt": build, "began": began, "ended": moment(-2)}
        for part, one in (("attempts", running), ("finished", finished)):
            document = reports()["archer2"]
            document[part] = [one]
            report_sites(self.farm, token, {"archer2": document})
        wheel = Wheel("linked", "1.0").write(self.folder)
        said = {"format": "wheelyard.provenance/1", "site": "archer2", "program": "wheelyard-builder 0.1.0", "attempt": build, "package": "linked",
                "wheel": {"filename": wheel.name, "sha256": sha256_of(wheel)}}
        status, problem = RawUpload(self.farm, token, wheel, "archer2", wheelyard_provenance=json.dumps(said)).send()
        self.assertEqual(status, 200, problem)
        wait_until(lambda: f'id="built-{build}"' in self.farm.get("/archer2/project/linked/")[2].decode())

        def follow(words: str) -> None:
            browser.run("[...document.querySelectorAll('main a')].find(link => link.textContent === arguments[0]).click()", words)
        browser.open("/archer2/project/linked/")
        follow("Build and log")
        wait_until(lambda: "linked 1.0" in browser.find("#title").text)
        self.assertIn("SHA-256 " + "5a" * 32, browser.find("main").text)
        self.assertEqual(browser.find("main a[rel]").get_attribute("href"), "https://code.example.org/linked")
        follow(task)
        wait_until(lambda: browser.path() == f"/archer2/builds/request.html?id={task}" and build in browser.texts("main li a"))
        follow(build)
        wait_until(lambda: browser.path().startswith("/archer2/builds/build.html?") and "linked 1.0" in browser.find("#title").text)
        follow("Its wheel on the page of linked")
        wait_until(lambda: browser.path().endswith(f"/project/linked/#built-{build}") and browser.find(f"#built-{build}").is_displayed())
        self.post(f"/api/v1/tasks/{task}/cancel", token, {"format": "wheelyard.change/1", "reason": "tested"})

    def test_little_of_a_page_moves_while_it_loads(self):
        browser = self.browser
        moved = {}
        for size in (NARROW, TABLET, WIDE):
            browser.show(size=size)
            for name, path in {"question": "/?q=py", "question of an index": f"{BEDE}/project/?q=py", "question of words": "/?q=torch+foo", "build": PAGES["log"], "project": PAGES["project"], "my machine": f"{PAGES['project']}?node={GH}&my_python=3.12", "search": PAGES["search"], "front": "/",
                               "site": PAGES["site"], "builds": PAGES["builds"], "missing": ERROR_PAGES["404"]}.items():
                browser.open("/api/v1/openapi.json")
                browser.run("localStorage.clear(); sessionStorage.clear()")
                browser.open(path)
                wait_until(lambda: browser.run("return document.readyState") == "complete")
                if name == "build":
                    wait_until(lambda: "horovod" in browser.find("#title").text)
                if name == "my machine":
                    wait_until(lambda: browser.find("#machine strong").text.startswith(GH))
                if "q=" in path:
                    wait_until(lambda: "project" in browser.find("#count").text)
                moved[name, size[0]] = browser.shift()
        browser.run("localStorage.clear(); sessionStorage.clear()")
        self.assertEqual({name: shift for name, shift in moved.items() if shift > MAX_LAYOUT_SHIFT}, {})

    def test_an_operator_sees_the_indexes(self):
        token = self.farm.create_token("*", name="overseer", actions=("index",))
        self.browser.open("/api/v1/")
        self.browser.find("[name=token]").clear()
        self.browser.find("[name=token]").send_keys(token, Keys.ENTER)
        wait_until(lambda: "lab" in self.browser.texts("#indexes tbody th"))
        self.browser.run("sessionStorage.clear()")

    def test_an_operator_makes_a_token_within_the_own_rights_and_sees_it_once(self):
        browser = self.browser
        self.addCleanup(browser.run, "sessionStorage.clear()")
        browser.open(PAGES["operators"])
        browser.find("[name=token]").clear()
        own = self.farm.create_token("archer2", name="maker", actions=("token", "upload"), projects=("torch", "numpy"))
        browser.find("[name=token]").send_keys(own, Keys.ENTER)
        wait_until(lambda: "maker" in browser.texts("#tokens tbody th"))

        def make(**values: str) -> str:
            browser.run("document.getElementById('make-answer').textContent = ''")
            for name, value in values.items():
                browser.find(f"#make [name={name}]").clear()
                browser.find(f"#make [name={name}]").send_keys(value)
            browser.find("#make button").click()
            wait_until(lambda: browser.find("#make-answer").text)
            return browser.find("#make-answer").text
        said = "const it = document.createElement('p'); yard.say(it, 'the action `gc` for <all>'); return it.innerHTML"
        self.assertEqual(browser.run(said), "the action <code>gc</code> for &lt;all&gt;")
        self.assertIn("more than yours", make(name="too-much", indexes="archer2", actions="upload yank"))
        self.assertIn("more than yours", make(projects="scipy", actions="upload"))
        self.assertFalse(browser.find("#made").is_displayed())
        self.assertIn("Created wy_", make(projects="torch", expires="2h"))
        text = browser.find("#made code").text
        self.assertRegex(text, r"^wy_[0-9a-f]{12}_[0-9a-f]{64}$")
        wait_until(lambda: "too-much" in browser.texts("#tokens tbody th"))
        row, = (row for row in browser.texts("#tokens tbody tr") if row.startswith("too-much"))
        self.assertRegex(row, r"archer2torchuploadactive until \d{4}-.*, created \d{4}-")
        listed = json.loads(self.farm.run("wheelyard-registry", "token", "list", "--json", "-c", self.farm.config).stdout)
        made, = (token for token in listed if token["id"] == text.rsplit("_", 1)[0])
        self.assertEqual((made["projects"], made["actions"], made["created_by"]), (["torch"], ["upload"], "maker"))
        # Nothing of the page keeps it: not once it is hidden, not for Back, and no storage.
        browser.find("#made button").click()
        secret = text.rsplit("_", 1)[1]
        kept = "return document.documentElement.outerHTML + JSON.stringify([{...sessionStorage}, {...localStorage}, location.href, [...document.querySelectorAll('input')].map(field => field.value)])"
        self.assertNotIn(secret, browser.run(kept))
        # Without projects it gets those of its maker; the page that is left forgets the text.
        self.assertIn("Created wy_", make(name="as-mine", indexes="archer2"))
        secret = browser.find("#made code").text.rsplit("_", 1)[1]
        browser.open(PAGES["front"])
        browser.driver.back()  # a script that leaves its page may be run twice by the driver
        wait_until(lambda: "as-mine" in browser.texts("#tokens tbody th"))
        self.assertNotIn(secret, browser.run(kept))
        row, = (row for row in browser.texts("#tokens tbody tr") if row.startswith("as-mine"))
        self.assertRegex(row, "archer2torch numpyuploadactive")

    def test_each_text_of_the_permanent_configuration_is_copied(self):
        self.browser.open(PAGES["index"])
        parts = "[...document.querySelectorAll('main details')].map(part => [part.querySelectorAll('code').length, part.querySelectorAll('.copied > button').length])"
        self.assertEqual([count for count, _ in self.browser.run("return " + parts)], [1, 1, 1, 1, 2, 2])  # modulefiles have a command beside them
        self.assertEqual([count for _, count in self.browser.run("return " + parts)], [1, 1, 1, 1, 2, 2])

    def test_a_phone_needs_no_sideways_scrolling(self):
        self.browser.show(size=PHONE)
        for name, path in (PAGES | {name: ERROR_PAGES[name] for name in ("404", "404 address", "503")}).items():
            self.browser.open(path)
            self.assertLessEqual(self.browser.overflow(), 0, name)
            self.assertLess(self.browser.run("return document.querySelector('nav').offsetHeight"), 50, name)  # one row
            torn = "return [...document.querySelectorAll('time')].filter(part => part.checkVisibility() && part.getClientRects().length > 1).map(part => part.textContent)"
            self.assertEqual(self.browser.run(torn), [], name)
        self.addCleanup(self.browser.run, "localStorage.clear(); sessionStorage.clear()")
        self.browser.open(f"{PAGES['site']}?node={GH}&my_python=3.12")
        wait_until(lambda: self.browser.find("#machine strong").text)
        heads = self.browser.run("return [...document.querySelectorAll('#wheels thead th')].map(head => head.getBoundingClientRect()).map(box => [box.left, box.width].map(Math.round))")
        self.assertEqual((len({left for left, _ in heads}), len({width for _, width in heads})), (3, 1))  # columns, not a ragged line
        self.assertLess(self.browser.run("return document.querySelector('nav').offsetHeight"), 50)

    def test_pages_are_light_or_dark_as_the_system_is_or_as_the_reader_wants(self):
        browser = self.browser
        self.addCleanup(browser.run, "localStorage.clear(); sessionStorage.clear()")
        ground = lambda: browser.run("return getComputedStyle(document.body).backgroundColor")
        light, dark = "rgb(246, 247, 249)", "rgb(17, 20, 26)"
        for is_dark in (False, True):
            browser.show(dark=is_dark)
            for wanted, seen in (("", dark if is_dark else light), ("light", light), ("dark", dark)):
                browser.open("/")
                browser.run("const it = document.querySelector('#theme select'); it.value = arguments[0]; it.dispatchEvent(new Event('change'))", wanted)
                self.assertEqual(ground(), seen)
                browser.open(PAGES["project"])  # the next page has it, too
                self.assertEqual((ground(), browser.find("#theme select").get_attribute("value")), (seen, wanted))

    def test_a_phone_shows_the_chosen_python_beside_the_versions(self):
        self.browser.show(size=PHONE)
        self.addCleanup(self.browser.run, "localStorage.clear(); sessionStorage.clear()")
        self.browser.open(PAGES["project"] + "?my_python=3.12")
        left = "return [...document.querySelectorAll('#grid thead th')].find(head => head.textContent === arguments[0]).getBoundingClientRect()"
        wait_until(lambda: abs(self.browser.run(left + ".left", "Python 3.12") - self.browser.run(left + ".right", "Version")) < 2)

    def open_error(self, name, path):
        browser = self.browser
        # A token without rights, as a browser sends it after it has asked for one.
        headers = {"Authorization": f"Bearer {self.farm.create_token()}"} if name == "403" else {}
        status, fields, _ = self.farm.get(path, "text/html,application/xhtml+xml", headers=headers)
        self.assertEqual((status, fields.get_content_type()), (int(name[:3]), "text/html"), name)
        browser.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": headers})
        browser.open(path)
        browser.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {}})
        self.assertEqual(browser.find("h1").text[:3], name[:3])
        wait_until(lambda: browser.run("return document.styleSheets.length") > 0)

    @unittest.skipIf(why_no_axe(), why_no_axe())
    def test_no_page_has_a_barrier(self):
        browser = self.browser
        operator = self.farm.create_token("*", name="operator", actions=("quarantine", "delete", "token", "upload", "audit", "index"), projects=("*",))
        self.hold_tqdm()
        self.addCleanup(self.browser.run, "sessionStorage.clear()")
        found = []

        def look(name):
            for dark, size in ((False, None), (True, None), (False, TABLET), (False, PHONE)):
                browser.show(dark, *([size] if size else []))
                found.extend(f"{name}, {'dark' if dark else size or 'light'}: {line}" for line in browser.barriers())
        for name, path in PAGES.items():
            browser.open(path)
            if name == "search":
                wait_until(lambda: "2 projects" in browser.texts("#count"))
            if name == "operators":
                browser.find("[name=token]").send_keys(operator, Keys.ENTER)
                wait_until(lambda: browser.texts("#tokens tbody th"))
                self.assertLessEqual({*SAMPLE_INDEXES, "far", "lab"}, set(browser.texts("#indexes tbody th a")))
            if name == "request":
                wait_until(lambda: browser.find("#request").is_displayed())
            if name == "index":
                wait_until(lambda: browser.find("#week").is_displayed())
            if name == "builds":
                self.show_history()
            browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
            look(name)
        for name, path in ERROR_PAGES.items():
            self.open_error(name, path)
            look(name)
        self.assertEqual(found, [])

    def test_the_first_load_of_a_page_is_small(self):
        for name in ("front", "search", "project", "site", "builds"):
            self.browser.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
            self.browser.requests()
            self.browser.open(PAGES[name])
            asked = [path for path in self.browser.requests() if not path.startswith("/favicon")]
            size = {path: len(self.farm.get(path, headers={"Accept-Encoding": "gzip"})[2]) for path in set(asked)}
            self.assertLess(sum(size.values()), MAX_FIRST_LOAD_BYTES, (name, size))
            self.assertLessEqual(len(asked), MAX_FIRST_LOAD_REQUESTS, (name, asked))
            style, = [bytes_ for path, bytes_ in size.items() if re.fullmatch(r"/style\.[0-9a-f]+\.css", path)]
            self.assertLess(style, MAX_STYLE_BYTES)


OWN_LOOK = """
public_url = "https://wheels.example.org/py"
[pages]
name = "Wheels of Bede"
text = "Built for <GH200>."
contact = "help@example.org"
colour = "#7a0019"
colour_dark = "#ffcc33"
logo = "ours.svg"
"""
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 32"><path d="M0 0h64v32H0z" fill="#7a0019"/></svg>'


@unittest.skipIf(why_no_browser(), why_no_browser())
class OwnLookTest(unittest.TestCase):
    def test_a_farm_has_its_own_name_colours_and_logo_and_an_index_without_pages(self):
        with tempfile.TemporaryDirectory(prefix="wheelyard-look-") as folder:
            (Path(folder) / "ours.svg").write_text(LOGO)
            farm = Farm(("main", "bulk"), Path(folder), settings=OWN_LOOK, index_settings={"bulk": "pages = false"})
            with farm:
                farm.start()
                token = farm.create_token()
                for index in farm.indexes:
                    self.assertEqual(RawUpload(farm, token, Wheel("Yard.Look", "1.0").write(Path(folder) / index), index).send()[0], 200)
                wait_until(lambda: b"yard-look" in farm.get("/", accept="text/html")[2])  # the last page that is written
                self.assertIn(b"pip install --index-url https://wheels.example.org/py/main/simple/ yard-look==1.0", farm.get("/main/project/yard-look/")[2])
                self.look_at(farm)
                status, _, body = farm.get("/bulk/project/yard-look/")
                self.assertEqual((status, json.loads(body)["code"]), (404, "index.no_pages"))
                self.assertEqual(farm.get("/bulk/simple/yard-look/")[0], 200)
                self.assertFalse((farm.tree / "bulk" / "project").exists())
                for path in ("/farm.0123456789ab.css", "/logo.0123456789ab.svg"):
                    self.assertEqual(farm.get(path)[0], 404)

    def look_at(self, farm):
        browser = Browser(farm.url)
        self.addCleanup(browser.quit)
        for path in ("/", "/main/project/yard-look/", "/main/builds/", "/main/", "/bulk/", "/api/v1/", "/main/project/missing/"):
            for dark, colour in ((False, "rgb(122, 0, 25)"), (True, "rgb(255, 204, 51)")):
                browser.show(dark)
                browser.open(path)
                self.assertEqual(browser.run("return getComputedStyle(document.querySelector('header')).borderTopColor"), colour, path)
                self.assertEqual(browser.texts("nav .farm"), ["Wheels of Bede"], path)
                self.assertEqual(browser.run("return document.querySelector('nav .farm img').naturalWidth > 0"), True, path)
                if path == "/":
                    self.assertEqual(browser.run("return getComputedStyle(document.querySelector('main h3 a')).color"), colour)
                if not why_no_axe():
                    self.assertEqual(browser.barriers(), [], path)
        browser.open("/")
        self.assertEqual(browser.texts(".lead"), ["Built for <GH200>."])
        self.assertEqual(browser.link("help@example.org").get_attribute("href"), "mailto:help@example.org")
        self.assertNotIn("bulk", browser.find("main").text)
        self.assertEqual([line for line in browser.complaints() if "404" not in line], [])

MARKED = ("yard-base ; python_version < '3.13'", "yard-base ; platform_machine == 'aarch64'", "missing-one ; python_version >= '3.12'", "missing-two ; extra == 'test'",
          "missing-three ; sys_platform == 'win32'", "yard-kernels<2", "yard-kernels>=2")


@unittest.skipIf(why_no_browser(), why_no_browser())
class RequirementsTest(unittest.TestCase):
    def test_a_requirement_counts_where_its_marker_holds_and_has_the_gpus_of_the_versions_that_satisfy_it(self):
        with tempfile.TemporaryDirectory(prefix="wheelyard-needs-") as name, Farm(("main",), Path(name)) as farm:
            folder = Path(name)
            farm.start()
            token = farm.create_token()
            wheels = [Wheel("yard-base", "1.0"), Wheel("yard-user", "1.0", metadata_lines=[f"Requires-Dist: {text}" for text in MARKED])]
            for version, gpu_code in (("1.0", "cuda-speed.so"), ("2.0", "hip-plain.so")):
                wheels.append(Wheel("yard-kernels", version, tags=("cp312-cp312-linux_x86_64",), extra_members={"yard_kernels/_C.so": (GPU_OBJECTS / gpu_code).read_bytes()}))
            for wheel in wheels:
                self.assertEqual(RawUpload(farm, token, wheel.write(folder / "wheels"), "main").send()[0], 200)
            wait_until(lambda: all(f"yard-{one}".encode() in farm.get("/main/project/search.json")[2] for one in ("base", "user", "kernels")))
            browser = Browser(farm.url)
            self.addCleanup(browser.quit)

            browser.open("/main/project/yard-user/")
            here, unneeded, yes, unknown = "here", "not needed on my machine", "for my machine", "not known for my machine"
            # Of missing-three every reader is told.
            wait_until(lambda: browser.texts("#needs .mine") == [here, here, "not here", "not here", here, here])
            self.assertEqual(browser.texts("#needs .quiet"), ["not needed on Linux"])
            self.assertFalse(browser.find("#install-lacks").is_displayed())

            def expect(marks: list[str], lacks: str, **machine) -> None:
                browser.run("Object.assign(yard.machine, {node: '', python: '', details: null}, arguments[0]); dispatchEvent(new Event('machine'))", machine)
                wait_until(lambda: browser.texts("#needs .mine") == marks)
                wait_until(lambda: browser.find("#install-lacks").text.partition(": ")[2].partition(".")[0] == lacks)

            on = {"name": "n", "machine": "x86_64", "index": "main", "gpus": ["sm_80"]}
            expect([yes, yes, "not here", "not here", yes, yes], "missing-one", python="3.12")
            no, kernels = "not for my machine", "yard-kernels<2, yard-kernels>=2"
            expect([unneeded, yes, "not here", "not here", no, no], f"missing-one, {kernels}", python="3.13")
            self.assertTrue(browser.find("#install-lacks").text.startswith("Required, and not in this index for my machine: "))
            expect([yes, yes, unneeded, "not here", no, no], kernels, python="3.11")
            # Without a Python those of the machine's site count.
            expect([unneeded, unneeded, "not here", "not here", no, no], f"missing-one, {kernels}", node="n", details=on | {"pythons": ["3.13"]})
            expect([yes, unneeded, "not here", "not here", yes, unknown], "missing-one", node="n", details=on | {"pythons": ["3.12"]})
            expect([yes, unneeded, "not here", "not here", yes, unknown], "missing-one", node="n", python="3.12", details=on)
            expect([yes, unneeded, "not here", "not here", unknown, yes], "missing-one", node="n", python="3.12", details=on | {"gpus": ["gfx90a"]})
            expect([yes, yes, "not here", "not here", no, no], kernels, node="n", details=on | {"machine": "aarch64"})
            self.assertEqual([line for line in browser.complaints() if "status.json" not in line], [])  # no site reports here


if __name__ == "__main__":
    main()
