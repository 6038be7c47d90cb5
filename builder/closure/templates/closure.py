"""What a requirement needs to run and to be built, and what that needs in turn: `python -I closure.py REQUEST GRAPH FOLDER`.

pip chooses every version, in one run for each environment: the run-time one, and that of each build. It runs with the
interpreter that the wheels are for, because markers and tags are those of the running one. Which files a release has is asked
of pip's own finder, so its configuration (indexes, folders, certificates) holds for everything here.

The graph is made in three steps: all releases, breadth first; then its cycles are broken; then what nothing needs is left out.
"""
import contextlib
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pip
from pip._internal.commands import create_command
from pip._internal.utils.temp_dir import global_tempdir_manager
from pip._vendor.packaging.requirements import InvalidRequirement, Requirement
from pip._vendor.packaging.specifiers import SpecifierSet
from pip._vendor.packaging.utils import canonicalize_name
from pip._vendor.packaging.version import Version

try:
    import tomllib
except ImportError:  # before Python 3.11
    from pip._vendor import tomli as tomllib

MAX_RELEASES = 600  # of a graph
MAX_RANK = 16  # a build environment's build environment's …
MAX_SDIST_BYTES = 2 << 30
ASK_TIMEOUT_S = 900  # of one back end
MAX_REASON = 600
NO_SDIST = "the release has no sdist"
CONFLICT = "The conflict is caused by:"

# PEP 517: the project's folder is not on sys.path, but for backend-path.
ASK = """
import contextlib, importlib, json, os, sys
name, paths, answer = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
sys.path[:0] = [os.path.abspath(path) for path in paths]
module, _, path = name.partition(":")
with contextlib.redirect_stdout(sys.stderr):
    back_end = importlib.import_module(module)
    for part in filter(None, path.split(".")):
        back_end = getattr(back_end, part)
    asked = getattr(back_end, "get_requires_for_build_wheel", list)()
with open(answer, "w") as file:
    json.dump(list(asked), file)
"""


class Unresolvable(Exception):
    """Why a release, and what needs it, cannot be built."""


def run(command, failing, **more):
    """Its output goes to the log; pip's last error, with the requirements that conflict, or the last line, is the reason."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, check=False, **more)
    except subprocess.TimeoutExpired as late:
        raise Unresolvable(f"{failing}: no answer within {late.timeout:.0f} s") from None
    print(done.stdout, file=sys.stderr, flush=True, end="")
    if done.returncode != 0:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()] or [f"exit status {done.returncode}"]
        errors = [line for line in lines if line.startswith("ERROR:") and "ResolutionImpossible" not in line] or lines
        conflict = lines[lines.index(CONFLICT) + 1:] if CONFLICT in lines else []
        told = [errors[-1].removeprefix("ERROR: "), *itertools.takewhile(lambda line: not line.startswith("To fix this"), conflict)]
        raise Unresolvable(f"{failing}: {'; '.join(told)[:MAX_REASON]}")


def requirement_of(text):
    """A name with versions: an address would be fetched from where no rule of the site looks."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        raise Unresolvable(f"not a requirement: {text[:200]!r}") from None
    if requirement.url:
        raise Unresolvable(f"a requirement must be a name with versions, not an address: {text[:200]!r}")
    return requirement


def applies(requirement, extra=""):
    return (requirement.marker.evaluate({"extra": extra}) if requirement.marker else extra == "")


def id_of(name, version):
    return f"{canonicalize_name(name)}=={version}"


def without_secrets(url):
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


class Index:
    def __init__(self, stack):
        command = create_command("download")
        options, _ = command.parse_args(["--no-deps", "any"])
        stack.enter_context(command.main_context())
        stack.enter_context(global_tempdir_manager())
        self.session = command.get_default_session(options)
        self.finder = command._build_package_finder(options, self.session)
        self.skipped, log = [], self.finder._log_skipped_link  # what this interpreter cannot take
        self.finder._log_skipped_link = lambda link, *why: (self.skipped.append(link), log(link, *why))
        self.constraints = list(options.constraints)  # as pip is configured

    def versions(self, name, specifiers):
        return sorted({one.version for one in self.finder.find_all_candidates(name) if specifiers.contains(one.version, prereleases=True)})

    def links(self, name, version):
        return [one.link for one in self.finder.find_all_candidates(name) if one.version == Version(version)]

    def has_platform_wheels(self, name, version):
        """Also those of other machines and Pythons: then a pure wheel is only what is left for the rest."""
        known = [link.filename for link in [*self.links(name, version), *self.skipped]]
        parts = [one.removesuffix(".whl").split("-") for one in known if one.endswith(".whl") and not one.endswith("-any.whl")]
        return any(canonicalize_name(part[0]) == name and part[1] == version for part in parts)

    def fetch(self, link, folder):
        path, digest = folder / link.filename, hashlib.sha256()
        with self.session.get(link.url_without_fragment, headers={"Accept-Encoding": "identity"}, stream=True) as answer:
            answer.raise_for_status()
            with open(path, "wb") as file:
                for piece in answer.iter_content(1 << 20):
                    digest.update(piece)
                    file.write(piece)
                    if file.tell() > MAX_SDIST_BYTES:
                        raise Unresolvable(f"larger than {MAX_SDIST_BYTES >> 20} MiB: {link.filename}")
        if link.hash_name == "sha256" and link.hash != digest.hexdigest():
            raise Unresolvable(f"its bytes are not those that the index names: {link.filename}")
        return path, digest.hexdigest()


def file_of(link, sha256="", size=0):
    known = link.hash if link.hash_name == "sha256" else ""
    return {"filename": link.filename, "url": without_secrets(link.url_without_fragment), "sha256": sha256 or known, "size": size}


class Release:
    def __init__(self, item, rank):
        self.name, self.version = canonicalize_name(item["metadata"]["name"]), item["metadata"]["version"]
        self.rank, self.how, self.note, self.runtime, self.loose = rank, "none", "", False, False
        info = item["download_info"]
        hashes = info.get("archive_info", {}).get("hashes") or dict([info.get("archive_info", {}).get("hash", "=").split("=", 1)])
        self.resolved = {"filename": info["url"].rpartition("/")[2].partition("#")[0], "url": without_secrets(info["url"]),
                         "sha256": hashes.get("sha256", ""), "size": 0}
        self.file = self.resolved
        self.why, self.after = {}, {}  # (who, kind, text), release → "build" or "run"; dicts keep the order

    @property
    def id(self):
        return id_of(self.name, self.version)

    def as_json(self):
        return {"name": self.name, "version": self.version, "how": self.how, "file": self.file, "note": self.note,
                "runtime": self.runtime, "loose": self.loose,
                "why": [{"of": of, "kind": kind, "text": text} for of, kind, text in self.why],
                "after": [{"of": of, "kind": kind} for of, kind in self.after.items()]}


class Tree:
    def __init__(self, request, folder, index):
        self.request, self.folder, self.index = request, folder, index
        self.releases, self.todo, self.resolved, self.environments = {}, [], {}, {}
        self.constraints = folder / "constraints.txt"
        self.constraints.write_text("".join(line + "\n" for line in request["constraints"]))
        self.avoid_known_bad()

    def avoid_known_bad(self):
        """pip runs the code of an sdist for its metadata, so it must not look at what is not built here, nor may its own build environments."""
        lines = []
        for bad in self.request["known_bad"]:
            lines += [f"{bad['package']}!={version}\n" for version in self.index.versions(bad["package"], SpecifierSet(bad["versions"]))]
        if lines:
            file = self.folder / "known_bad.txt"
            file.write_text("".join(lines))
            # As an address, since pip splits the variables at spaces. Newer pips read the second one where they build.
            os.environ["PIP_CONSTRAINT"] = " ".join([*self.index.constraints, file.as_uri()])
            os.environ["PIP_BUILD_CONSTRAINT"] = f"{os.environ.get('PIP_BUILD_CONSTRAINT', '')} {file.as_uri()}".strip()

    def with_known_bad(self, reason):
        named = [bad for bad in self.request["known_bad"] if re.search(rf"(?<![\w-]){re.escape(bad['package'])}(?![\w-])", reason)]
        return reason + "".join(f"; {bad['package']} {bad['versions']} is known to be bad here: {bad['reason']}" for bad in named)

    def resolve(self, requirements, constrained=False):
        key = tuple(sorted(set(map(str, requirements))))
        if not key:
            return []
        if key not in self.resolved:
            report = self.folder / "report.json"
            try:
                run([sys.executable, "-I", "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", report,
                     *(["--constraint", self.constraints] if constrained else []), *key], "pip finds no set of versions")
            except Unresolvable as error:
                raise Unresolvable(self.with_known_bad(str(error))) from None
            self.resolved[key] = json.loads(report.read_text(encoding="utf-8"))["install"]
        return self.resolved[key]

    def add(self, items, wanted, by, rank, runtime=False):
        """Adds the releases of one environment, with who asks for each. `wanted`: (kind, requirement). Returns their ids."""
        named = {canonicalize_name(item["metadata"]["name"]): item for item in items}
        for name, item in named.items():
            key = id_of(name, item["metadata"]["version"])
            if key not in self.releases:
                if len(self.releases) >= MAX_RELEASES:
                    sys.exit(f"closure: more than {MAX_RELEASES} releases")
                self.releases[key] = Release(item, rank)
                self.todo.append(self.releases[key])
            self.releases[key].runtime |= runtime
        ids = {name: id_of(name, item["metadata"]["version"]) for name, item in named.items()}
        queue, seen = [(by, kind, requirement) for kind, requirement in wanted], set()
        while queue:
            of, kind, requirement = queue.pop(0)
            name = canonicalize_name(requirement.name)
            if name not in ids:
                continue
            self.releases[ids[name]].why[of, kind, str(requirement)] = True
            if kind == "run" and of != ids[name]:
                self.releases[of].after.setdefault(ids[name], "run")
            for extra in {"", *requirement.extras} - {extra for one, extra in seen if one == name}:
                seen.add((name, extra))
                for text in named[name]["metadata"].get("requires_dist", []):
                    needed = Requirement(text)
                    if applies(needed, extra) and (extra == "" or not applies(needed)):
                        queue.append((ids[name], "run", needed))
        return list(ids.values())

    def choose(self, release):
        """How the release becomes a wheel of ours."""
        recipe = self.request["recipes"].get(release.name, {})
        if recipe.get("own_source"):
            release.how = "recipe"
            return
        links = self.index.links(release.name, release.version)
        pure = [link for link in links if link.is_wheel and link.filename.endswith("-none-any.whl")]
        sdists = sorted((link for link in links if not link.is_wheel), key=lambda link: not link.filename.endswith(".tar.gz"))
        is_wanted = any(kind == "wanted" for _, kind, _ in release.why)
        if self.request["mode"] == "compiled" and pure and not (recipe or is_wanted or self.index.has_platform_wheels(release.name, release.version)):
            release.how, release.file = "wheel", file_of(pure[0])
        elif sdists:
            self.expand(release, sdists[0], recipe)
            release.how = "sdist"
        elif release.resolved["filename"].endswith(".whl"):
            release.how, release.note = "wheel", NO_SDIST
        else:
            raise Unresolvable("neither a wheel nor an sdist of it is there")

    def expand(self, release, link, recipe):
        if release.rank >= MAX_RANK:
            raise Unresolvable(f"build environments of build environments, {MAX_RANK} deep")
        archive, sha256 = self.index.fetch(link, self.folder)
        release.file = file_of(link, sha256, archive.stat().st_size)
        source = unpack(archive, self.folder / f"source-{len(self.environments)}-{release.name}")
        system = build_system_of(source)
        wanted = [("build", requirement_of(text)) for text in system.get("requires", [])]
        wanted += [("recipe", requirement_of(text)) for text in recipe.get("requires", [])]
        wanted = [(kind, one) for kind, one in wanted if applies(one)]
        items = self.resolve([one for _, one in wanted])
        asked = [requirement_of(text) for text in self.ask(source, system, items)]
        wanted += [("asked", one) for one in asked if applies(one)]
        if asked:
            items = self.resolve([one for _, one in wanted])
        for needed in self.add(items, wanted, release.id, release.rank + 1):
            release.after[needed] = "build"

    def ask(self, source, system, items):
        """What the back end wants beside `requires`, asked in an environment with that."""
        lock = tuple(sorted(id_of(item["metadata"]["name"], item["metadata"]["version"]) for item in items))
        if lock not in self.environments:
            place = self.folder / f"environment-{len(self.environments)}"
            run([sys.executable, "-I", "-m", "venv", "--without-pip", place], "no environment for its back end")
            if lock:
                run([sys.executable, "-I", "-m", "pip", "--python", place / "bin" / "python", "install", "--quiet", "--no-compile", "--no-deps", *lock],
                    "what its build requires cannot be installed")
            self.environments[lock] = place
        place, answer = self.environments[lock], self.folder / "asked.json"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        environment["PATH"] = f"{place / 'bin'}{os.pathsep}{environment['PATH']}"
        run([place / "bin" / "python", "-I", "-c", ASK, system.get("build-backend", "setuptools.build_meta:__legacy__"),
             json.dumps(system.get("backend-path", [])), answer], "its back end does not say what the build needs",
            cwd=source, env=environment, timeout=ASK_TIMEOUT_S)
        return json.loads(answer.read_text(encoding="utf-8"))

    def make(self):
        wanted = requirement_of(self.request["requirement"])
        root = self.add(self.resolve([wanted], constrained=True), [("wanted", wanted)], "", 0, runtime=True)
        root = next(one for one in root if self.releases[one].name == canonicalize_name(wanted.name))
        while self.todo:
            release = self.todo.pop(0)
            print(f"closure: {release.id}, the {len(self.releases) - len(self.todo)}. of {len(self.releases)} so far", file=sys.stderr, flush=True)
            try:
                self.choose(release)
            except (Unresolvable, OSError, ValueError, LookupError, tarfile.TarError, zipfile.BadZipFile) as error:
                release.how, release.note = "none", str(error)
        for release in self.releases.values():
            if release.how == "recipe":  # upstream's wheel of it may need what ours does not, as CUDA's libraries
                release.after = {needed: kind for needed, kind in release.after.items() if self.releases[needed].note != NO_SDIST}
        while cycle := self.find_cycle():
            self.break_cycle(cycle)
        return root, self.order(root)

    def find_cycle(self):
        """A list of releases each of which comes after the next, and the last after the first; empty: there is none."""
        done, path = set(), []

        def visit(one):
            if one in path:
                return path[path.index(one):]
            if one in done:
                return []
            path.append(one)
            for needed in self.releases[one].after:
                if cycle := visit(needed):
                    return cycle
            done.add(path.pop())
            return []

        return next(filter(None, map(visit, self.releases)), [])

    def break_cycle(self, cycle):
        """An upstream's wheel of a build tool breaks it; without one, a test that cannot have all of its requirements."""
        names = " needs ".join([*cycle, cycle[0]])
        after = {one: cycle[(at + 1) % len(cycle)] for at, one in enumerate(cycle)}
        for one in cycle:
            release = self.releases[one]
            if release.after[after[one]] != "build":
                continue
            wheels = [link for link in self.index.links(release.name, release.version) if link.is_wheel]
            if wheels:
                release.how, release.file, release.note = "wheel", file_of(wheels[0]), f"a cycle: {names}"
                release.after = {needed: kind for needed, kind in release.after.items() if kind == "run"}
                return
        loose = next((one for one in cycle if self.releases[one].after[after[one]] == "run"), None)
        release = self.releases[loose or cycle[0]]
        del release.after[after[release.id]]
        release.note = f"a cycle: {names}"
        if loose:
            release.loose = True
        else:
            release.how = "none"

    def order(self, root):
        """What is reachable, each before what it needs."""
        order = []

        def visit(one):
            if one not in order:
                for needed in self.releases[one].after:
                    visit(needed)
                order.append(one)

        visit(root)
        for one in order:
            release = self.releases[one]
            release.why = {why: True for why in release.why if not why[0] or why[0] in order}
        return [self.releases[one] for one in reversed(order)]


def unpack(archive, folder):
    folder.mkdir()
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
    else:
        with tarfile.open(archive) as file:
            # Pythons without the filter (PEP 706) are older than its backports of 2023.
            file.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    archive.unlink()
    [source] = [path for path in folder.iterdir() if path.is_dir()]
    return source


def build_system_of(source):
    file = source / "pyproject.toml"
    system = tomllib.loads(file.read_text(encoding="utf-8")).get("build-system") if file.exists() else None
    return system or {"requires": ["setuptools>=40.8.0"]}  # the defaults of PEP 517 and 518


def main():
    request, graph, folder = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]), Path(sys.argv[3]).absolute()
    sys.setrecursionlimit(10 * MAX_RELEASES + 1000)
    with contextlib.ExitStack() as stack:
        tree = Tree(request, folder, Index(stack))
        try:
            root, releases = tree.make()
        except Unresolvable as error:
            sys.exit(f"closure: {error}")
    text = json.dumps({"format": "wheelyard.closure/1", "requirement": request["requirement"], "mode": request["mode"],
                       "python": ".".join(map(str, sys.version_info[:3])), "resolver": f"pip {pip.__version__}", "root": root,
                       "releases": [release.as_json() for release in releases]}, indent=1)
    graph.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
