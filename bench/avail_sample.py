#!/usr/bin/env python3
"""What `avail_wheels` answers for the wheels of a sample on a node, beside the node's own uv and a real import there. As root:

    bench/avail_sample.py --roots ROOTS --wheels WHEELS --work FOLDER --uv FILE --avail-wheels FILE [--node NODE…] [--qemu FILE]
                          [--list FILE] [--write FILE]

WHEELS has those of tests/real_wheels/sampled.tsv, or of --list (fetch.py), which are for CPython 3.11; for a node with another
Python, pip downloads the wheel of the same version into FOLDER. ROOTS has a folder for each system, of debootstrap with python3: debian11 (also
python3-distutils, which uv asks for), debian12, debian13; debian12-x also with the libraries of X and GL, debian13-pypy also with pypy3, debian13-free also with a
free-threaded CPython 3.14 in opt/python3.14t. FOLDER keeps what was installed and imported, so that a second run only asks
avail_wheels again. A second run at the same time is refused.

debian12-v1, -v2 and -v3 are debian12 on a processor of that level: qemu-user, FILE, imports the compiled wheels of the sample there.

A pair counts if uv installs the wheel on the node with all that it requires; no node has a compiler. It runs if the module that is named
like the project, else the first public one, can be imported. A miss is a "yes" that fails or a "no" that imports.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from typing import NamedTuple

from avail_imports import carry_programs, last_line

HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = HERE.parent / "tests/real_wheels/sampled.tsv"
LIMIT_S = 240


class System(NamedTuple):
    root: str
    pip: list[str]  # what pip download is told of its Python
    glibc: int  # 2.X
    python: str = "/usr/bin/python3"
    cpu: tuple[str, str] | None = None  # as avail_wheels and as qemu name it
    compiled_alone: bool = False  # the other wheels of the sample are the same there


CP311 = ["--python-version", "3.11"]
NODES = {
    "debian11": System("debian11", ["--python-version", "3.9"], 31),
    "debian12": System("debian12", CP311, 36),
    "debian12-x": System("debian12-x", CP311, 36, compiled_alone=True),
    "debian13": System("debian13", ["--python-version", "3.13"], 41),
    "debian13-pypy": System("debian13-pypy", ["--python-version", "3.11", "--implementation", "pp", "--abi", "pypy311_pp73"], 41,
                            "/usr/bin/pypy3"),
    "debian13-free": System("debian13-free", ["--python-version", "3.14", "--abi", "cp314t"], 41, "/opt/python3.14t/bin/python3.14t"),
    "debian12-v1": System("debian12", CP311, 36, cpu=("x86-64-v1", "qemu64"), compiled_alone=True),
    "debian12-v2": System("debian12", CP311, 36, cpu=("x86-64-v2", "Nehalem"), compiled_alone=True),
    "debian12-v3": System("debian12", CP311, 36, cpu=("x86-64-v3", "Haswell"), compiled_alone=True),
}
SIDE = re.compile(r"(tests?|docs?|examples?|bench.*|scripts)$")


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def module_of(wheel):
    tops, packages = [], []
    for member in zipfile.ZipFile(wheel).namelist():
        path = re.sub(r"^[^/]+\.data/(purelib|platlib)/", "", member)
        if re.fullmatch(r"([A-Za-z_]\w*/)+__init__\.py", path):  # of a namespace package
            packages.append(path.removesuffix("/__init__.py").replace("/", "."))
        top = re.match(r"([A-Za-z_]\w*)(/__init__\.(py|[^/]*so)$|\.py$|\.[^/]*so$)", path)
        if top and top[1] not in tops and not SIDE.match(top[1]):
            tops.append(top[1])
    project = normal(wheel.name.split("-")[0])
    named = [top for top in tops if normal(top) == project] + [top for top in tops if not top.startswith("_")] + tops
    named += sorted(packages, key=lambda package: package.count("."))[:1]
    return named[0] if named else None


class Node:
    """A system in a folder, and what was learned there."""

    def __init__(self, name, given):
        self.system = NODES[name]
        self.python = self.system.python
        self.name, self.root, self.work = name, given.roots / self.system.root, given.work
        self.wheels = given.work / "wheels" / name
        self.wheels.mkdir(parents=True, exist_ok=True)
        first_on_path = given.work / "bin" / name / "python3"
        first_on_path.parent.mkdir(parents=True, exist_ok=True)
        if not first_on_path.is_symlink():
            first_on_path.symlink_to(self.python)
        self.known_file = given.work / f"{name}.json"
        self.known = json.loads(self.known_file.read_text()) if self.known_file.exists() else {}
        self.mounts = [(pathlib.Path("/proc"), "proc"), (given.work, "work"), (given.roots / "program", "program")]

    def __enter__(self):
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        for source, target in self.mounts:
            (self.root / target).mkdir(exist_ok=True)
            subprocess.run(["mount", "--bind", source, self.root / target], check=True)
        return self

    def __exit__(self, *_):
        for _source, target in reversed(self.mounts):
            subprocess.run(["umount", self.root / target], check=True)

    def run(self, argv, **more):
        env = {"HOME": "/root", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"} | more
        try:
            return subprocess.run(["/usr/sbin/chroot", self.root, *argv], capture_output=True, text=True, errors="replace", env=env,
                                  timeout=LIMIT_S, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            return subprocess.CompletedProcess(error.cmd, 124, "", "no end")

    def take(self, sampled):
        """The wheel of that version for this node's Python, or None."""
        project, version = sampled.name.split("-")[:2]
        if self.system.pip == CP311 or sampled.name.endswith("-none-any.whl"):
            shutil.copy(sampled, self.wheels)
            return self.wheels / sampled.name
        platforms = [f"manylinux_2_{minor}_x86_64" for minor in range(self.system.glibc, 4, -1)]
        platforms += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"]
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
                   *self.system.pip, "--dest", self.wheels, f"{project}=={version}"]
        for platform in platforms:
            command += ["--platform", platform]
        subprocess.run(command, stderr=subprocess.DEVNULL)
        return next(self.wheels.glob(f"{project}-{version}-*.whl"), None)

    def truth(self, sampled):
        """[wheel, module, "" or why uv does not install it, "" or why it does not import]; from memory in a second run."""
        if sampled.name in self.known:
            return self.known[sampled.name]
        wheel = self.take(sampled)
        found = ["", "", "no wheel of this version for the node's Python", ""]
        if wheel is not None:
            module = module_of(wheel)
            target = f"/work/targets/{self.name}"
            done = self.run(["/program/uv", "pip", "install", "-q", "--no-config", "--python", self.python, "--target", target,
                             f"/work/wheels/{self.name}/{wheel.name}"],
                            UV_CACHE_DIR="/work/cache", SSL_CERT_FILE="/work/certificates.pem", UV_LINK_MODE="hardlink")
            refused = last_line(done) if done.returncode else "" if module else "no module"
            fails = ""
            if not refused:
                imported = self.run([*self.processor(), self.python, "-c", f"import {module}"], PYTHONPATH=target)
                fails = last_line(imported) if imported.returncode else ""
            found = [wheel.name, module or "", refused, fails]
            shutil.rmtree(self.work / "targets" / self.name, ignore_errors=True)
        self.known[sampled.name] = found
        self.known_file.write_text(json.dumps(self.known, indent=1))
        return found

    def carried(self, program):
        loader = next((self.root / "program").glob("ld-linux*")).name
        return [f"/program/{loader}", "--library-path", "/program", f"/program/{program}"]

    def processor(self):
        return [*self.carried("qemu"), "-cpu", self.system.cpu[1]] if self.system.cpu else []

    def answers(self):
        assumed = ["--assume", f"cpu={self.system.cpu[0]}"] if self.system.cpu else []
        shutil.rmtree(self.root / "tmp/avail", ignore_errors=True)  # facts that another version found
        done = self.run([*self.carried("avail_wheels"), "--wheelhouse", f"/work/wheels/{self.name}", "--why", "--all-versions", "--json",
                         *assumed],
                        XDG_CACHE_HOME="/tmp/avail", PATH=f"/work/bin/{self.name}:/usr/bin:/bin")
        if done.returncode != 0:
            sys.exit(f"avail_wheels on {self.name}: {done.stderr}")
        return {wheel["filename"]: wheel["here"] for wheel in json.loads(done.stdout)["wheels"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--roots", "--wheels", "--work", "--uv", "--avail-wheels"):
        parser.add_argument(option, type=pathlib.Path, required=True)
    parser.add_argument("--qemu", type=pathlib.Path, help="qemu-x86_64 of qemu-user")
    parser.add_argument("--node", action="append", choices=sorted(NODES))
    parser.add_argument("--list", type=pathlib.Path, default=SAMPLE)
    parser.add_argument("--limit", type=int, help="only so many wheels of the list")
    parser.add_argument("--write", type=pathlib.Path, help="a line for each pair")
    given = parser.parse_args()
    given.roots, given.work = given.roots.resolve(), given.work.resolve()
    given.work.mkdir(parents=True, exist_ok=True)
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", given.work / "certificates.pem")
    programs = {"avail_wheels": given.avail_wheels, "uv": given.uv} | ({"qemu": given.qemu} if given.qemu else {})
    _lock = carry_programs(programs, given.roots)
    names = [line.split("\t")[2] for line in given.list.read_text().splitlines() if not line.startswith("#")][:given.limit]
    rows = []
    for name in given.node or [name for name, system in NODES.items() if given.qemu or not system.cpu]:
        count = Counter()
        with Node(name, given) as node:
            asked = [one for one in names if not node.system.compiled_alone or not one.endswith("-any.whl")]
            truths = [node.truth(given.wheels / wheel) for wheel in asked]
            answers = node.answers()
        for wheel, module, refused, fails in truths:
            if refused:
                count["no wheel" if not wheel else "not installed"] += 1
                continue
            here = answers.get(wheel, {"runs": "no", "why": "not listed"})
            runs = "fails" if fails else "imports"
            count[here["runs"], runs] += 1
            rows.append("\t".join([name, wheel, module, here["runs"], runs, here.get("why") or "-", fails or "-"]))
            if (here["runs"], runs) in (("yes", "fails"), ("no", "imports")):
                print("MISS", rows[-1], flush=True)
        print(name, *(f"{' '.join(key) if isinstance(key, tuple) else key}: {value}" for key, value in sorted(count.items(), key=str)),
              sep="\n  ", flush=True)
    if given.write:
        given.write.write_text("# node\twheel\tmodule\tavail_wheels\tin truth\tits reason\twhat Python said\n" + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
