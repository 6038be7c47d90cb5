#!/usr/bin/env python3
"""What `avail_wheels` answers for a wheel on a node, beside pip and a real import there. As root:

    bench/avail_imports.py --roots ROOTS --wheels WHEELS --avail-wheels FILE [--node NODE…]

The pairs are in avail_imports/pairs.tsv. ROOTS has a folder for each system: debian11, debian12, debian13 (debootstrap with python3;
debian12 also with pypy3 and python3-dbg), musl (the loader and a Python in opt/python), and build (Debian 13 with gcc, g++, gfortran,
libgsl-dev and python3-dev), in which the small wheels of avail_imports/made.c are compiled. WHEELS has the others: `pip download` of
the names in the pairs, of what they are installed with, and of pip. Nothing is taken from the network here.

A wheel runs on a node if the node's Python, by its own pip, installs it from WHEELS and then imports the module. Every "yes" has to
run and every "no" must not; at most a fifth may be "unknown". Exit code 1 otherwise.
"""

from __future__ import annotations  # for Python 3.9

import argparse
import base64
import fcntl
import fnmatch
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TextIO

HERE = Path(__file__).resolve().parent / "avail_imports"
LIMIT_S = 300
MAX_UNKNOWN = 0.2
PIP = "pip-24.3.1-py3-none-any.whl"
OLD_GCC = "/opt/old-gcc"
LIBRARY = "/opt/yard/lib"  # where yard_rpath finds its library on Debian 12


class Node:
    """A system in a folder, the Python that is first on PATH, and the rest of the environment."""

    def __init__(self, root: str, python: str, environment: dict[str, str] | None = None):
        self.root, self.python, self.environment = root, python, environment or {}


OLD = {"LD_LIBRARY_PATH": OLD_GCC}  # Debian 11's libstdc++, libgcc_s and libgomp come first
NODES = {
    "debian11": Node("debian11", "/usr/bin/python3"),
    "debian12": Node("debian12", "/usr/bin/python3"),
    "debian13": Node("debian13", "/usr/bin/python3"),
    "debian12-old-gcc": Node("debian12", "/usr/bin/python3", OLD),
    "debian13-old-gcc": Node("debian13", "/usr/bin/python3", OLD),
    "debian12-pypy": Node("debian12", "/usr/bin/pypy3"),
    "debian12-debug": Node("debian12", "/usr/bin/python3-dbg"),
    "musl": Node("musl", "/opt/python/bin/python3.11"),
}

# name: compiler, options, libraries, tag
MADE = {
    "plain": ("gcc", [], [], "linux_x86_64"),
    "cxx30": ("g++", ["-DNEEDS_CXX30", "-D_GLIBCXX_ASSERTIONS", "-O0"], [], "linux_x86_64"),
    "cxx32": ("g++", ["-DNEEDS_CXX32"], [], "linux_x86_64"),
    "gsl": ("gcc", ["-DNEEDS_GSL"], ["-lgsl", "-lgslcblas"], "linux_x86_64"),
    "gomp": ("gcc", ["-DNEEDS_GOMP", "-fopenmp"], [], "linux_x86_64"),
    "fortran": ("gcc", ["-Wl,--no-as-needed"], ["-lgfortran"], "linux_x86_64"),
    "v4": ("gcc", ["-Wl,-z,x86-64-v4"], [], "linux_x86_64"),
    "glibc238": ("gcc", ["-DNEEDS_GLIBC238"], [], "linux_x86_64"),
    "rpath": ("gcc", ["-DNEEDS_RPATH", f"-Wl,-rpath,{LIBRARY}"], ["-L/made", "-lyard"], "linux_x86_64"),
    "tag39": ("gcc", [], [], "manylinux_2_39_x86_64"),
}


def write_wheel(folder: Path, name: str, version: str, tag: str, members: dict[str, bytes], required: tuple[str, ...] = ()) -> None:
    info = f"{name}-{version}.dist-info"
    head = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {one}" for one in required)]
    purelib = "true" if tag.endswith("-any") else "false"
    members = members | {f"{info}/METADATA": "\n".join([*head, ""]).encode(),
                         f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: {purelib}\nTag: {tag}\n".encode()}
    record = "".join(f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
                     for path, data in members.items())
    members[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(folder / f"{name}-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in members.items():
            wheel.writestr(path, data)


def run_in(root: Path, argv: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    env = {"HOME": "/root", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"} | (environment or {})
    try:
        return subprocess.run(["/usr/sbin/chroot", root, *argv], capture_output=True, text=True, env=env, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        return subprocess.CompletedProcess(error.cmd, 124, "", "no end")


def make_wheels(roots: Path, wheels: Path) -> None:
    build, folder = roots / "build", roots / "build" / "made"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(HERE / "made.c", folder / "made.c")
    (folder / "yard.c").write_text("int yard_answer(void) { return 42; }\n")
    (folder / "made.cpp").write_text((folder / "made.c").read_text())

    def compile_one(argv: list[str]) -> None:
        done = run_in(build, argv)
        if done.returncode != 0:
            sys.exit(f"{' '.join(argv)}: {done.stderr}")

    compile_one(["gcc", "-shared", "-fPIC", "-Wl,-soname,libyard.so.1", "-o", "/made/libyard.so", "/made/yard.c"])
    include = next((build / "usr/include").glob("python3.*")).name
    for name, (compiler, options, libraries, platform) in MADE.items():
        source = "/made/made.cpp" if compiler == "g++" else "/made/made.c"
        compile_one([compiler, "-shared", "-fPIC", "-O1", f"-I/usr/include/{include}", "-DPy_LIMITED_API=0x03090000",
                     f'-DMODULE="yard_{name}"', f"-DINIT=PyInit_yard_{name}", *options, source, "-o", f"/made/{name}.so", *libraries])
        write_wheel(wheels, f"yard_{name}", "1.0", f"cp39-abi3-{platform}",
                    {f"yard_{name}.abi3.so": (folder / f"{name}.so").read_bytes()})
    write_wheel(wheels, "yardlib", "2.6", "py3-none-any", {"yardlib.py": b""})
    write_wheel(wheels, "yard_scatter", "1.0", "py3-none-any", {"yard_scatter.py": b"import yardlib\n"}, ("yardlib==2.8",))


def prepare_roots(roots: Path) -> None:
    """Libraries of another system, for the nodes that have them by LD_LIBRARY_PATH or by a search path."""
    old = roots / "old-gcc"
    if not old.is_dir():
        sys.exit(f"{old}: put Debian 11's libstdc++.so.6, libgcc_s.so.1 and libgomp.so.1 there")
    for root in ("debian12", "debian13"):
        shutil.copytree(old, roots / root / OLD_GCC[1:], dirs_exist_ok=True)
    (roots / "debian12" / LIBRARY[1:]).mkdir(parents=True, exist_ok=True)
    shutil.copy(roots / "build/made/libyard.so", roots / "debian12" / LIBRARY[1:] / "libyard.so.1")


def carry_programs(programs: dict[str, Path], roots: Path) -> TextIO:
    """These programs, with their libraries and loader, so that they run in every root whatever that has. No other run has the roots
    until the file is closed."""
    lock = open(roots / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"{roots}: another run uses these roots")
    folder = roots / "program"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, program in programs.items():
        shutil.copy(program, folder / name)
        carry_libraries(program, folder)
    return lock


def carry_libraries(program: Path, folder: Path) -> None:
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for word in listed.split():
        if word.startswith("/") and Path(word).is_file():
            shutil.copy(word, folder / Path(word).name)


class Here:
    """A node with everything mounted, and its answers."""

    def __init__(self, name: str, roots: Path, wheels: Path):
        self.node = NODES[name]
        self.root = roots / self.node.root
        self.work = roots / "work" / name
        shutil.rmtree(self.work, ignore_errors=True)
        (self.work / "bin").mkdir(parents=True)
        (self.work / "bin" / "python3").symlink_to(self.node.python)
        with zipfile.ZipFile(wheels / PIP) as pip:
            pip.extractall(self.work / "pip")
        self.mounts = [(Path("/proc"), "proc"), (wheels, "wheels"), (roots / "program", "program"), (self.work, "work"),
                       (roots / "cache", "cache")]
        (roots / "cache").mkdir(exist_ok=True)
        self.beside: dict[str, str] = {}

    def __enter__(self) -> "Here":
        for source, target in self.mounts:
            (self.root / target).mkdir(exist_ok=True)
            subprocess.run(["mount", "--bind", source, self.root / target], check=True)
        return self

    def __exit__(self, *_) -> None:
        for _source, target in reversed(self.mounts):
            subprocess.run(["umount", self.root / target], check=True)

    def run(self, argv: list[str], more: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        return run_in(self.root, argv, {"PATH": "/work/bin:/usr/bin:/bin", "TMPDIR": "/work"} | self.node.environment | (more or {}))

    def answers(self) -> dict[str, dict]:
        loader = next(path.name for path in (self.mounts[2][0]).glob("ld-linux*"))
        done = self.run([f"/program/{loader}", "--library-path", "/program", "/program/avail_wheels", "--wheelhouse", "/wheels", "--why",
                         "--all-versions", "--json"], {"XDG_CACHE_HOME": "/cache"})
        if done.returncode != 0:
            sys.exit(f"avail_wheels: {done.stderr}")
        return {wheel["filename"]: wheel["here"] for wheel in json.loads(done.stdout)["wheels"]}

    def install(self, target: str, words: list[str]) -> subprocess.CompletedProcess:
        return self.run(["/work/bin/python3", "/work/pip/pip", "install", "-q", "--no-index", "--find-links",
                         "/wheels", "--target", f"/work/{target}", "--no-compile", "--disable-pip-version-check", *words])

    def installed_beside(self, project: str) -> str:
        if project not in self.beside:
            done = self.install(f"beside-{project}", ["--no-deps", project])
            self.beside[project] = last_line(done) if done.returncode != 0 else ""
        return self.beside[project]

    def imports(self, filename: str, module: str, beside: str, number: int) -> tuple[bool, str]:
        """Whether pip installs it and Python imports it, and otherwise what was said."""
        target = f"target-{number}"
        done = self.install(target, [f"/wheels/{filename}"] if beside == "required" else ["--no-deps", f"/wheels/{filename}"])
        if done.returncode != 0:
            return False, "pip: " + last_line(done)
        paths = [f"/work/{target}"]
        for project in [] if beside in ("-", "required") else beside.split(","):
            if problem := self.installed_beside(project):
                return False, f"pip, of {project}: {problem}"
            paths.append(f"/work/beside-{project}")
        done = self.run(["/work/bin/python3", "-c", f"import {module}"], {"PYTHONPATH": ":".join(paths)})
        shutil.rmtree(self.work / target, ignore_errors=True)
        return done.returncode == 0, "" if done.returncode == 0 else last_line(done)


def last_line(done: subprocess.CompletedProcess) -> str:
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    return lines[-1].strip()[:160] if lines else f"status {done.returncode}"


def read_pairs() -> list[list[str]]:
    lines = (HERE / "pairs.tsv").read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--roots", type=Path, required=True)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--avail-wheels", type=Path, required=True, help="the program; not the static one, which reads no wheels")
    parser.add_argument("--node", action="append", choices=sorted(NODES), help="only this one; may be given again")
    parser.add_argument("--write", type=Path, help="the answers, a line a pair")
    options = parser.parse_args()
    roots, wheels = options.roots.resolve(), options.wheels.resolve()
    make_wheels(roots, wheels)
    prepare_roots(roots)
    _lock = carry_programs({"avail_wheels": options.avail_wheels}, roots)
    rows, wrong, unknown = [], 0, 0
    for name in options.node or NODES:
        with Here(name, roots, wheels) as here:
            answers = here.answers()
            for number, (node, pattern, module, beside) in enumerate(read_pairs()):
                if node != name:
                    continue
                found = sorted(path.name for path in wheels.iterdir() if fnmatch.fnmatch(path.name, pattern))
                if len(found) != 1:
                    sys.exit(f"{pattern}: {len(found)} wheels in {wheels}")
                answer = answers.get(found[0], {"runs": "not listed"})
                runs, said = here.imports(found[0], module, beside, number)
                # A wheel for another C library is not listed, which is a "no".
                is_right = answer["runs"] == "unknown" or answer["runs"] == ("yes" if runs else answer["runs"] if answer["runs"] == "not listed" else "no")
                wrong += not is_right
                unknown += answer["runs"] == "unknown"
                row = [name, found[0], answer["runs"], "imports" if runs else "fails", answer.get("why", "-") or "-", said or "-"]
                rows.append("\t".join(row))
                print(("      " if is_right else "WRONG ") + rows[-1], flush=True)
    if options.write:
        options.write.write_text("# node\twheel\tavail_wheels\tin truth\tits reason\twhat pip or Python said\n" + "\n".join(rows) + "\n")
    print(f"{len(rows)} pairs: {wrong} wrong, {unknown} unknown")
    return 1 if wrong or unknown > MAX_UNKNOWN * len(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
