"""The Debian packages, of programs that use this system's libraries: Debian's security updates reach them."""

import os
import re
import shutil
import subprocess
import sys
import time

import contents
from fetch import HOMEPAGE, REBUILD, ROOT, STATE, PackageError, environment, run


PACKAGES = ("wheelyard-registry", "wheelyard-agent", "avail-wheels")  # as in debian/control


def compile_programs(jobs):
    folder = ROOT / "build/release"
    run(["cmake", "--preset", "release", "-DWHEELYARD_TESTS=OFF", f"-DWHEELYARD_REBUILD={REBUILD}"], cwd=ROOT)
    run(["cmake", "--build", folder, "-j", jobs, "--target", "programs"], cwd=ROOT)
    return folder / "bin"


def write(programs, out):
    tree = STATE / "deb/tree"
    shutil.rmtree(tree.parent, ignore_errors=True)
    shutil.copytree(ROOT / "packaging/debian", tree / "debian", ignore=shutil.ignore_patterns("README.md"))
    folders = {"site-configs": contents.site_configs()}
    folders |= {f"docs/{package}": contents.guides(package) for package in PACKAGES}
    for folder, files in folders.items():
        for name, data in files.items():
            path = tree / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    shutil.copytree(STATE / "share", tree / "share")
    # What `scripts/package wheels` made of this version: the agents that the registry hands out.
    (tree / "wheels").mkdir()
    agents = list(out.glob(f"*-{contents.VERSION}-py3-none-*.whl"))
    for wheel in agents:
        shutil.copy(wheel, tree / "wheels")
    if not agents:
        print(f"package: {out} has no wheels of {contents.VERSION}: this wheelyard-registry will hand out no agents. For one that does, run "
              "`scripts/package wheels` before, or `all`", file=sys.stderr)
    # The unit of /usr/local, with the package's paths.
    unit = (ROOT / "docs/reference/wheelyard-registry.service").read_text().replace("/usr/local/", "/usr/")
    (tree / "debian/wheelyard-registry.service").write_text(unit)
    control = (ROOT / "packaging/debian/control").read_text()
    if HOMEPAGE:
        (tree / "debian/control").write_text(control.replace("Priority: optional\n", f"Priority: optional\nHomepage: {HOMEPAGE}\n"))
    maintainer = re.search(r"^Maintainer: (.*)$", control, re.M)[1]
    moment = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(contents.epoch()))
    (tree / "debian/changelog").write_text(
        f"wheelyard ({contents.VERSION}) unstable; urgency=medium\n\n  * CHANGELOG.md lists the changes.\n\n"
        f" -- {maintainer}  {moment}\n")
    with open(STATE / "deb.log", "w") as log:
        run(["dpkg-buildpackage", "-b", "-us", "-uc"], cwd=tree, stdout=log, stderr=log,
            env=environment() | {"WHEELYARD_PROGRAMS": os.path.abspath(programs)})
    made = [path for path in sorted(tree.parent.glob("*.deb")) if "-dbgsym" not in path.name]
    told = subprocess.run(["lintian", "--allow-root", "--tag-display-limit", "0", *made], capture_output=True, text=True)
    if told.returncode or told.stdout:
        raise PackageError(f"lintian says of the Debian packages:\n{told.stdout}{told.stderr}")
    return [shutil.move(path, out / path.name) for path in made]
