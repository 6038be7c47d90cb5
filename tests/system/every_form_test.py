"""Every form says the same of every project: Simple HTML, Simple JSON, PyPI's JSON, feeds, and the published tree. The farm has own,
inherited and upstream projects, yanks, each status, and files that are withheld."""

import html.parser
import json
import re
import time
import xml.etree.ElementTree

from support.case import OwnFarmsCase, main
from support.clients import RawUpload
from support.farm import COMMAND_TIMEOUT_S, Farm
from support.sdists import Sdist
from support.upstream import JSON, Upstream
from support.wheels import Wheel

BASE, SITE = "base", "gh200"
FETCHED = Wheel("yard-six").filename  # of the upstream's files
ATOM = "{http://www.w3.org/2005/Atom}"


class Anchors(html.parser.HTMLParser):
    """filename → (sha256, yanked, time, Requires-Python) of a page, and its status."""

    def __init__(self, text: str):
        super().__init__()
        self.files: dict[str, tuple] = {}
        self.names: list[str] = []
        self.status = "active"
        self.open: dict | None = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        if tag == "meta" and known.get("name") == "pypi:project-status":
            self.status = known["content"]
        if tag == "a":
            self.open = known

    def handle_data(self, text):
        if self.open is None:
            return
        self.names.append(text)
        if "#sha256=" in self.open["href"]:
            yanked = "data-yanked" in self.open and (self.open["data-yanked"] or True)
            self.files[text] = (self.open["href"].split("#sha256=")[1], yanked, self.open.get("data-upload-time"),
                                self.open.get("data-requires-python"))
        self.open = None


class EveryFormTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.upstream = self.enterContext(Upstream())
        settings = f'sdists = true\n[[index.upstream]]\nname = "public"\nurl = "{self.upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n'
        self.farm = self.enterContext(Farm((BASE, SITE), index_settings={BASE: settings, SITE: 'inherits = ["base"]\nowns = ["yard-torch"]\nsdists = true'}))
        self.token = self.farm.create_token()
        self.farm.start()

    def upload(self, index: str, *packages) -> None:
        for package in packages:
            folder = self.folder / index
            folder.mkdir(exist_ok=True)
            status, problem = RawUpload(self.farm, self.token, package.write(folder), index).send()
            self.assertEqual(status, 200, problem)

    def act(self, *words: str) -> None:
        self.assert_ran(self.farm.run("wheelyard-registry", *words, "-c", self.farm.config))

    def prepare(self) -> None:
        self.upload(BASE, *(Wheel(name, version) for name in ("yard-own", "yard-archived", "yard-deprecated", "yard-closed", "yard-held")
                            for version in ("1.0", "1.10", "2.0")), Sdist("yard_own"), Wheel("Yard.Odd", "1!0.1+site.1", requires_python=">=3.8"))
        self.upload(SITE, Wheel("yard-torch", "2.0+site.1"), Wheel("yard-torch", "2.0+site.2"))
        self.act("yank", BASE, "yard_own-2.0-py3-none-any.whl", "--reason", "<broken> & \"more\"")
        self.act("quarantine", BASE, "yard_held-2.0-py3-none-any.whl", "--reason", "looked at")
        for status in ("archived", "deprecated", "quarantined"):
            self.act("status", BASE, "yard-closed" if status == "quarantined" else f"yard-{status}", status, "--reason", "see seven")
        for name in ("yard-six", "yard-seven"):
            for version, more in (("1.0", {}), ("2.0", {"more": {"yanked": "broken", "requires-python": ">=3.8"}}), ("3.0", {"sha256": "-"})):
                wheel = Wheel(name, version)
                self.upstream.offer(wheel.write(self.folder / "upstream"), metadata=wheel.members()[f"{wheel.module}-{version}.dist-info/METADATA"], **more)
        [entry] = [entry for name, entry in self.farm.files("yard-six", BASE).items() if "-1.0-" in name]
        self.assertEqual(self.farm.get(f"/{BASE}/" + entry["url"].removeprefix("../../"))[0], 200)

    def has_late_pages(self) -> bool:
        return b"\nwheelyard_publish_late_root_pages 0\n" not in self.farm.get("/metrics")[2]

    def feed(self, path: str) -> list[xml.etree.ElementTree.Element]:
        status, _, body = self.farm.get(path)
        return xml.etree.ElementTree.fromstring(body).findall(ATOM + "entry") if status == 200 else []

    def check_project(self, index: str, project: str, is_own: bool) -> dict:
        """What PyPI's form says of it; {}: 404."""
        page = json.loads(self.farm.get(f"/{index}/simple/{project}/", accept=JSON)[2])
        files = {file["filename"]: (file["hashes"]["sha256"], file["yanked"], file.get("upload-time"), file.get("requires-python")) for file in page["files"]}
        anchors = Anchors(self.farm.get(f"/{index}/simple/{project}/", accept="text/html")[2].decode())
        self.assertEqual(anchors.files, files)
        self.assertEqual(anchors.status, page["project-status"]["status"])
        status, _, body = self.farm.get(f"/{index}/pypi/{project}/json")
        self.assertEqual(status, 200 if files else 404)
        document = json.loads(body) if files else {"releases": {}}
        released = {file["filename"]: (file["digests"]["sha256"], file["yanked_reason"] or file["yanked"], file["upload_time_iso_8601"], file["requires_python"])
                    for release in document["releases"].values() for file in release}
        self.assertEqual(released, files)
        self.assertEqual(set(document["releases"]), set(page["versions"]))
        for version, release in document["releases"].items():
            self.assertEqual(json.loads(self.farm.get(f"/{index}/pypi/{project}/{version}/json")[2])["urls"], release)
        self.assertEqual({entry.find(ATOM + "id").text.removeprefix("urn:sha256:") for entry in self.feed(f"/{index}/project/{project}/feed.xml")},
                         {file[0] for name, file in files.items() if is_own or name == FETCHED})
        if is_own:
            tree = self.farm.tree / index / "simple" / project
            self.assertEqual(Anchors((tree / "index.html").read_text()).files, files)
            flat = Anchors(self.farm.get(f"/{index}/find-links/")[2].decode()).files
            self.assertLessEqual(files.items(), flat.items())
            self.assertEqual(json.loads((tree / "index.json").read_text()), page)
        return document.get("info", {})

    def test_every_form_of_every_project_agrees(self):
        self.prepare()
        own = {BASE: {"yard-own", "yard-odd", "yard-archived", "yard-deprecated", "yard-closed", "yard-held"}}
        own[SITE] = own[BASE] | {"yard-torch"}
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while self.has_late_pages() or len(self.feed(f"/{SITE}/project/yard-held/feed.xml")) != 2 or not all(self.feed(f"/{index}/project/{name}/feed.xml") for index, name in ((SITE, "yard-torch"), (SITE, "yard-six"), (BASE, "yard-six"))):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)  # the pages for people come after those for installers, and no answer says when
        for index, projects in own.items():
            root = json.loads(self.farm.get(f"/{index}/simple/", accept=JSON)[2])
            listed = {project["name"] for project in root["projects"]}
            self.assertEqual(listed, set(Anchors(self.farm.get(f"/{index}/simple/", accept="text/html")[2].decode()).names))
            self.assertLessEqual(projects, listed)
            newest = {}
            for project in sorted(projects | {"yard-six", "yard-seven"}):
                with self.subTest(index, project=project):
                    info = self.check_project(index, project, is_own=project in projects)
                    self.assertEqual(info == {}, project == "yard-closed")
                    if info and project in projects:
                        newest[project] = info["version"]
            # Of the upstream's projects, only what was fetched.
            self.assertEqual({name for name in Anchors(self.farm.get(f"/{index}/find-links/")[2].decode()).files if name.startswith(("yard_six", "yard_seven"))},
                             {FETCHED})
            shown = dict(re.fullmatch(r"(\S+) (\S*)", entry.find(ATOM + "title").text).groups() for entry in self.feed(f"/{index}/project/feed.xml"))
            self.assertEqual({project: version for project, version in shown.items() if project in projects}, newest)
        self.assertEqual(self.farm.get(f"/{BASE}/pypi/yard-own/json")[0], 200)
        self.farm.check_tree()

    def test_what_is_in_quarantine_is_not_among_the_newest(self):
        self.upload(BASE, Wheel("yard-closed"), Wheel("yard-open"))
        self.act("status", BASE, "yard-closed", "quarantined", "--reason", "see seven")
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        titles, front = [], "yard-closed"
        while self.has_late_pages() or titles != ["yard-open 1.0"] or "yard-closed" in front or "yard-open" not in front:
            self.assertLess(time.monotonic(), deadline, titles)
            time.sleep(0.1)  # as above
            titles = [entry.find(ATOM + "title").text for entry in self.feed(f"/{BASE}/project/feed.xml")]
            front = self.farm.get("/", accept="text/html")[2].decode()
        self.assertEqual([row[0] for row in json.loads(self.farm.get(f"/{BASE}/project/search.json")[2])["newest"]], ["yard-open"])


if __name__ == "__main__":
    main()
