"""What every package has beside the programs: site configurations, documents, licences, and the list of what is inside.

The list is CycloneDX JSON, which scanners for known vulnerabilities read.
"""

import json
import shutil
import subprocess
import urllib.parse
from pathlib import Path

from fetch import KEPT, LIBRARIES, ROOT, SOURCES, STATE, VERSION, archived, environment, git, run, unpack

URL = "https://cyclonedx.org/schema/bom-1.5.schema.json"


def epoch():
    return int(environment()["SOURCE_DATE_EPOCH"])


def header_versions():
    """Source package → version, of which the headers are: advisories name source packages."""
    query = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package}\t${source:Version}\n", *SOURCES["headers"]],
                           capture_output=True, text=True)
    return dict(line.split("\t") for line in query.stdout.splitlines())


def component(name, version):
    """A source package of Debian 12: without `distro` a scanner knows no advisories for it. https://github.com/package-url/purl-spec"""
    purl = f"pkg:deb/debian/{name}@{urllib.parse.quote(version, safe=':')}?arch=source&distro=debian-12"
    return {"type": "library", "name": name, "version": version, "purl": purl}


def upstream(name, version):
    return {"type": "library", "name": name, "version": version, "purl": f"pkg:generic/{name.replace('+', 'x')}@{version}"}


def bill_of_materials(name):
    """The file's text. Each library counts for each program, whether the program calls it or not."""
    compiler = SOURCES["compiler"]
    rows = [component(each, version) for each, version in ({name: row["version"] for name, row in LIBRARIES.items()} | header_versions()).items()]
    rows += [upstream("musl", compiler["musl"]), upstream("libc++", compiler["libcxx"])]
    return json.dumps({"$schema": URL, "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
                       "metadata": {"component": {"type": "application", "name": name, "version": VERSION}},
                       "components": sorted(rows, key=lambda row: row["name"])}, indent=2) + "\n"


def licences():
    """Name → text of the licence of each library inside."""
    found = {}
    for name, row in LIBRARIES.items():
        found[name] = (unpack(name) / row["licence"]).read_bytes()
    for package in SOURCES["headers"]:
        found[package] = Path("/usr/share/doc", package, "copyright").read_bytes()
    for name, file in SOURCES["compiler"]["licences"].items():
        found[name] = (KEPT / f"zig-{SOURCES['compiler']['version']}" / "ziglang" / file).read_bytes()
    return found


def documents(name, is_ours):
    """(licences, list of what is inside) of package `name`. Programs that were not compiled here have only our licence: what
    they contain is not known."""
    own = {"wheelyard": (ROOT / "LICENSE").read_bytes()}
    return (own | licences(), bill_of_materials(name).encode()) if is_ours else (own, None)


def files_below(folder):
    """Path below `folder` → bytes, of the files that git knows, or of all that a source tarball has."""
    if archived():
        names = [str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*") if path.is_file()]
    else:
        names = git("ls-files", "-z", folder, check=True).split("\0")
    return {name.removeprefix(f"{folder}/"): (ROOT / name).read_bytes() for name in names if name}


def site_configs():
    return files_below("site-configs")


# What a package for users of wheels has of the documents; all others have every one.
OF_AVAIL_WHEELS = ("how-to/find-wheels.md", "reference/avail_wheels.md", "reference/avail_wheels-site.md", "reference/cli/avail_wheels.md")


def guides(package):
    """Path below docs → bytes, of the documents: what programs and the files that they write cite as docs/…"""
    found = {name: data for name, data in files_below("docs").items() if name.endswith(".md")}
    return {name: found[name] for name in OF_AVAIL_WHEELS} if package == "avail-wheels" else found


def write_manual(programs):
    """Man pages and completions, from the help of programs that start here: those of another machine are the same."""
    shutil.rmtree(STATE / "share", ignore_errors=True)
    run([ROOT / "scripts/generate-shell-files", "--bin", programs, "--to", STATE / "share"])


def manual(names):
    """Path below share → bytes of the man pages and completions of the programs `names`."""
    share = STATE / "share"
    return {str(path.relative_to(share)): path.read_bytes() for path in sorted(share.rglob("*"))
            if path.is_file() and path.stem.removeprefix("_") in names}
