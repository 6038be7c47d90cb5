"""A store with something of everything that the registry's operations act on, made once and copied for each door: files in every state,
archived, private and choosy indexes, an upstream, tokens of every kind, tasks, a site with a build."""

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

from support.clients import RawUpload
from support.farm import Farm
from support.sdists import Sdist
from support.upstream import Upstream
from support.wheels import Wheel, sha256_of

INDEXES = ("main", "staging", "old", "hidden", "sources", "strict", "torches", "companions", "mirror", "asked")
BUILD, SITE = "w1kq7x9aab3cde", "alpha"
ORIGIN = '[[index.attested_by]]\nissuer = "https://oidc.circleci.com"\nrepository = "github.com/example/example"\n'
PUBLISHER = """
[[publisher]]
name = "solver"
issuer = "http://127.0.0.1:9"
allow_http = true
audience = "wheels.example.org"
index = "main"
projects = ["solver"]
claims = { repository = "octo-org/solver" }

[[identity]]
name = "campus"
issuer = "http://127.0.0.1:9"
allow_http = true
client_id = "wheelyard"

[[identity.allow]]
group = "/lab"
indexes = ["hidden"]
actions = ["read"]
"""
SBOM = {"bomFormat": "CycloneDX", "specVersion": "1.6",
        "components": [{"type": "library", "name": "zlib", "version": "1.2.11", "licenses": [{"license": {"id": "Zlib"}}]}]}
ZEROS, ONES = "_ZN2at4_ops5zeros4callEv", "_ZN2at4_ops4ones4callEv"
EVERY_ACTION = ("*",)
# name → indexes, actions, projects
TOKENS = {
    "admin": (("*",), EVERY_ACTION, ()),
    "feeder": (("*",), ("upload", "task", "approve"), ()),  # uploaded most files, and asked for the tasks that wait
    "uploader": (("main",), ("upload",), ()),
    "elsewhere": (("staging",), EVERY_ACTION, ()),      # of another index; may not know `hidden`
    "limited": (("main",), EVERY_ACTION, ("narrow",)),  # to another project
    "author": (("main", "staging"), ("upload", "promote", "task", "approve"), ()),
    "builder": (("main", "sources"), ("build", "upload"), ()),
    "auditor": (("*",), ("audit",), ()),
    "gone": (("*",), EVERY_ACTION, ()),                 # revoked
}


def index_settings(upstream: str) -> dict[str, str]:
    return {"main": 'title = "The main index"\nowns = ["owned"]\nquota_files = 100', "hidden": 'read = "token"', "sources": "sdists = true",
            "strict": ORIGIN, "torches": '[index.policy]\n"torch.cannot_load" = "quarantine"', "asked": 'ask = "anyone"',
            "mirror": f'[[index.upstream]]\nname = "public"\nurl = "{upstream}"\nprivate_hosts = ["127.0.0.1"]'}


def library(folder: Path, name: str, source: str, *options: str) -> bytes:
    """A shared library of these lines of C."""
    path = folder / name
    subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o", path, f"-Wl,-soname,{name}", "-Wl,--build-id=none", *options],
                   input=source.encode(), check=True)
    return path.read_bytes()


class PreparedStore:
    def __init__(self, folder: Path):
        self.folder = folder / "prepared"
        self.folder.mkdir()
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        self.names: dict[str, str] = {}   # what differs from run to run → its name in the goldens
        self.tokens: dict[str, str] = {}
        self.tasks: dict[str, str] = {}
        with Upstream() as upstream:
            self.settings = index_settings(upstream.url)
            with self.farm(self.folder, archived=False) as farm:
                self.fill(farm, upstream)
        with self.farm(self.folder) as farm:  # the file decides that `old` is archived
            farm.start()

    def farm(self, folder: Path, archived: bool = True) -> Farm:
        return Farm(INDEXES, folder=folder, settings='public_url = "https://wheels.example.org"\n[tasks]\nlease_s = 86400\n' + PUBLISHER,
                    index_settings=self.settings | ({"old": "archived = true"} if archived else {}))

    def copy(self, folder: Path) -> Farm:
        shutil.copytree(self.folder, folder)
        farm = self.farm(folder)
        for name, token in self.tokens.items():
            path = farm.folder / f"{name}.token"
            path.touch(mode=0o600)
            path.write_text(token)
        return farm

    def fill(self, farm: Farm, upstream: Upstream) -> None:
        for name, (indexes, actions, projects) in TOKENS.items():
            self.tokens[name] = farm.create_token(*indexes, name=name, actions=actions, projects=projects)
            self.names[self.tokens[name].rpartition("_")[0]] = f"<id of {name}>"
        code = self.run(farm, "agent", "enrol", SITE, "--index", "main", "--action", "upload", "--action", "build", "--json")
        self.code = json.loads(code)["token"]
        self.names[self.code.rpartition("_")[0]] = "<id of code>"
        farm.start()
        self.fill_files(farm, upstream)
        self.fill_tasks(farm)
        self.run(farm, "token", "revoke", self.tokens["gone"].rpartition("_")[0])
        farm.stop()

    def fill_files(self, farm: Farm, upstream: Upstream) -> None:
        for version in ("1.0", "1.0.1", "1.1"):
            self.upload(farm, Wheel("six", version))
        for name in ("yanked", "pinned", "odd", "gone", "other", "settled"):
            self.upload(farm, Wheel(name))
        self.upload(farm, Wheel("own"), by="author")
        self.upload(farm, Wheel("parts", extra_members={"parts-1.0.dist-info/sboms/x.cdx.json": json.dumps(SBOM).encode()}), provenance=True)
        self.upload(farm, Wheel("taken", value=1))
        self.upload(farm, Wheel("taken", value=2), "staging")
        self.upload(farm, Wheel("staged"), "staging")
        self.upload(farm, Wheel("closed"), "staging")
        self.upload(farm, Wheel("closed", "0.9"))
        self.upload(farm, Wheel("elder"), "old")
        self.upload(farm, Wheel("secret"), "hidden")
        for name in ("first", "second", "third"):
            self.upload(farm, Wheel(name), "companions")
        sdist = Sdist("solver").write(self.wheels)
        self.names[sha256_of(sdist)] = "<sha256 of solver>"
        self.send(farm, sdist, "sources")
        self.fill_torches(farm)
        for words in ("yank main yanked-1.0-py3-none-any.whl --reason slow", "pin main pinned-1.0-py3-none-any.whl",
                      "quarantine main odd-1.0-py3-none-any.whl --reason suspicious", "delete main gone-1.0-py3-none-any.whl --reason wrong",
                      "status main closed archived --reason over"):
            self.run(farm, *words.split())
        owned = self.write(Wheel("owned"))
        upstream.offer(owned)
        page = json.loads(farm.get("/mirror/simple/owned/", accept="application/vnd.pypi.simple.v1+json")[2])
        address = urllib.parse.urlparse(urllib.parse.urljoin("/mirror/simple/owned/", page["files"][0]["url"])).path
        status, _, body = farm.get(address)
        assert (status, body) == (200, owned.read_bytes()), status

    def fill_torches(self, farm: Farm) -> None:
        """A torch that has `ones`, and a companion that needs `zeros`, in another index."""
        torch = library(self.wheels, "libtorch_cpu.so", f"void {ONES}(void) {{}}")
        vision = library(self.wheels, "_C.so", f"void {ZEROS}(void); void start(void) {{ {ZEROS}(); }}", "-L", str(self.wheels), "-l:libtorch_cpu.so",
                         "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", "-Wl,-z,undefs")
        tags = ("cp311-cp311-linux_x86_64",)
        self.upload(farm, Wheel("torch", "2.6.0", tags, extra_members={"torch/lib/libtorch_cpu.so": torch}), "torches")
        self.upload(farm, Wheel("torchvision", "0.21.0", tags, extra_members={"torchvision/_C.so": vision}, metadata_lines=("Requires-Dist: torch==2.6.0",)),
                    "companions")

    def fill_tasks(self, farm: Farm) -> None:
        wish = {"format": "wheelyard.task/1", "version": "1.0", "python": "3.11"}
        for name, index, package, more in (("queued", "main", "queued", {}), ("held", "main", "held", {}), ("ended", "main", "ended", {}),
                                           ("waiting", "sources", "solver", {"source": {"index": "sources"}}),
                                           ("unwanted", "sources", "solver", {"source": {"index": "sources"}, "python": "3.10"}),
                                           ("hidden", "hidden", "secret", {})):
            by = "author" if index == "main" else "feeder"
            task = self.post(farm, "/api/v1/tasks", wish | {"index": index, "package": package} | more, by)["id"]
            self.tasks[name] = task
            self.names[task] = f"<task {name}>"
        claim = {"format": "wheelyard.claim/2", "index": "main", "agent": f"{SITE}.login1", "pythons": ["3.11"], "accelerators": [],
                 "packages": ["held"], "room": 1}
        self.post(farm, "/api/v1/tasks/claim", claim, "builder")
        self.post(farm, f"/api/v1/tasks/{self.tasks['ended']}/cancel", {"format": "wheelyard.change/1", "reason": "not needed"}, "author")
        self.post(farm, f"/api/v1/indexes/main/sites/{SITE}", report(), "builder", "PUT")
        self.post(farm, f"/api/v1/indexes/main/builds/{SITE}/{BUILD}/log?offset=0", "building\n", "builder")

    def write(self, wheel: Wheel) -> Path:
        """Not compressed, so that every machine makes the same bytes."""
        path = self.wheels / wheel.filename
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in wheel.members().items():
                archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data)
        return path

    def upload(self, farm: Farm, wheel: Wheel, index: str = "main", by: str = "feeder", provenance: bool = False) -> None:
        path = self.write(wheel)
        more = {}
        if provenance:
            said = {"format": "wheelyard.provenance/1", "site": SITE, "wheel": {"filename": path.name, "sha256": sha256_of(path), "size": path.stat().st_size}}
            more["wheelyard_provenance"] = json.dumps(said)
        self.send(farm, path, index, by, **more)

    def send(self, farm: Farm, path: Path, index: str, by: str = "feeder", **more: str) -> None:
        answer = RawUpload(farm, self.tokens[by], path, index, **more).send()
        assert answer[0] == 200, answer

    def post(self, farm: Farm, path: str, body, by: str, method: str = "POST") -> dict:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        request = urllib.request.Request(farm.url + path, data, {"Authorization": f"Bearer {self.tokens[by]}"}, method=method)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
            return json.load(answer)

    def run(self, farm: Farm, *words: str) -> str:
        done = farm.run("wheelyard-registry", *words, "-c", farm.config)
        assert done.returncode == 0, f"{words} {done.stdout}{done.stderr}"
        return done.stdout

    def without_names(self, text: str) -> str:
        for varying, name in self.names.items():
            text = text.replace(varying, name)
        return re.sub(r"wy_[0-9a-f]{12}", "<id>", text)


def report(**more) -> dict:
    return {"format": "wheelyard.site/1", "site": SITE, "index": "main", "time": "2026-01-01T00:00:00.000000Z",
            "cells": [{"package": "six", "version": "1.0", "python": "3.11", "accelerator": "cpu", "state": "have"}],
            "attempts": [{"id": BUILD, "package": "six", "version": "1.0", "python": "3.11", "state": "running"}]} | more
