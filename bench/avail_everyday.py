#!/usr/bin/env python3
"""What `avail_wheels` answers for Debian's packages of Python code, beside a real import by Pythons without packages of their own.

    bench/avail_everyday.py --work FOLDER --avail-wheels FILE --uv FILE --python FILE… [--ranked 300] [--hashed 200] [--seed WORD]
                            [--but FILE] [--write FILE]

The names, from `apt-cache dumpavail`, so that no registry is asked for any: the --ranked python3-NAME that most packages depend on, and
of the others the --hashed first ones by the SHA-256 of --seed and the name; with them come the python3-NAME that they depend on. Each is
taken by `apt-get download`, and packed as the wheel that it was installed from: its files below dist-packages, and its METADATA, or
PKG-INFO. Debian takes out of both what it turns into Depends (dh_python3), so the packages of Depends are required, too. At most
MOST_BYTES each. What is compiled is for CPython 3.11 (Debian 12); FOLDER/beside may have compiled wheels for other Pythons, as of
`pip wheel --no-deps --wheel-dir FOLDER/beside` and the names of COMPILED, which most of the others need.

All are read. Imported are those that a rule of Python code decides (RULES), with a "no", an "unknown" or a warning, and --imported
others by hash: uv installs the wheel with what it requires, from these wheels alone, and the Python imports the module of the project's
name, else the first public one. What uv does not install is counted apart. FILE of --write has a line for each; those that FILE of
--but has are left out.
"""

import argparse
import base64
import collections
import concurrent.futures
import email
import hashlib
import io
import json
import pathlib
import re
import subprocess
import tarfile
import tempfile
import zipfile

import results
from avail_sample import module_of, normal

LIMIT_S = 300
MOST_BYTES = 30_000_000
COMPILED = ("bcrypt", "brotli", "cffi", "coverage", "cryptography", "greenlet", "lxml", "lz4", "markupsafe", "msgpack", "netifaces", "numpy",
            "pillow", "psutil", "pynacl", "pyrsistent", "pyyaml", "simplejson", "tornado", "typing-extensions", "wrapt<2", "zope.interface")
PART = re.compile(r"(-lib|-backend)$")  # Debian has taken python3-pandas-lib out of python3-pandas
SITE = "./usr/lib/python3/dist-packages/"
RULES = [("imports a module that newer Pythons removed", r"has no more(;|$)"),
         ("imports a module that nothing required brings", r"nothing that it requires brings"),
         ("imports a module that this Python may lack", r"this Python (does|may) not have|setuptools has no more"),
         ("a library, as far as the import reaches it", r"\.so\b")]
REQUIRED, NO_RULE = "requires one that does not run here", "no rule of these"


def run(command, **more):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, stdin=subprocess.DEVNULL, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "no end")


def by_hash(seed):
    return lambda name: hashlib.sha256((seed + name).encode()).hexdigest()


def whole_of(name):
    """Of a package that is a part of another's wheel; "" otherwise."""
    return "python3-setuptools" if name == "python3-pkg-resources" else PART.sub("", name) if PART.search(name) else ""


def choose(ranked, hashed, seed):
    """What each chosen package, and each that one of them needs, depends on: names of Debian's packages."""
    text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    depends, depended = {}, collections.Counter()
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Depends|Size): (.*)$", block, re.M))
        found = set(re.findall(r"\bpython3-[a-z0-9.+-]+", fields.get("Depends", ""))) - {fields.get("Package")}
        depended.update(found)
        if fields.get("Package", "").startswith("python3-") and int(fields["Size"]) <= MOST_BYTES:
            depends[fields["Package"]] = found
    order = sorted(depends, key=lambda name: (-depended[name], name))
    depends |= {name: {whole_of(name)} for name in depends if whole_of(name) in depends}
    chosen = order[:ranked] + sorted(order[ranked:], key=by_hash(seed))[:hashed]
    needed, queue = {}, list(chosen)
    while queue:
        if (name := queue.pop()) in depends and name not in needed:
            needed[name] = depends[name]
            queue += depends[name]
    return needed


def requirements_of(text):
    """Of requires.txt, as setuptools writes it: sections [extra:marker]."""
    section = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("["):
            section = line.strip("[]")
            continue
        extra, _, marker = section.partition(":")
        requirement, _, own = line.partition(";")
        parts = [f"({one.strip()})" for one in (own, marker) if one.strip()] + ([f'extra == "{extra}"'] if extra else [])
        yield requirement.strip() + ("; " + " and ".join(parts) if parts else "")


class Deb:
    """The files of one package below dist-packages, by their paths there, and its metadata."""

    def __init__(self, path):
        self.files, self.name, self.head = {}, path.name.split("_")[0], None
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                if member.name.startswith(SITE) and (member.isfile() or member.issym()):
                    try:
                        self.files[member.name[len(SITE):]] = tar.extractfile(member).read()
                    except (KeyError, AttributeError):
                        continue  # a link to another package
        infos = [path for path in self.files if re.fullmatch(r"[^/]+\.(dist-info/METADATA|egg-info/PKG-INFO|egg-info)", path)]
        if not infos:
            return
        info = min(infos, key=lambda one: (normal(one.split("-")[0]) != self.name[8:], one))
        self.head = email.message_from_bytes(self.files[info])
        required = self.files.get(info.replace("PKG-INFO", "requires.txt")) if info.endswith("PKG-INFO") else None
        if required and "Requires-Dist" not in self.head:
            for one in requirements_of(required.decode()):
                self.head["Requires-Dist"] = one
        entries = self.files.get(info.rsplit("/", 1)[0] + "/entry_points.txt")
        self.files = {path: data for path, data in self.files.items() if not re.match(r"[^/]+\.(dist|egg)-info(/|$)", path)}
        self.entries = {"entry_points.txt": entries} if entries else {}

    def write(self, folder, required):
        """The wheel's path."""
        for project in required:
            self.head["Requires-Dist"] = project
        stem = f"{re.sub(r'[-_.]+', '_', self.head['Name'])}-{re.sub(r'[^0-9a-zA-Z.!+]', '.', self.head['Version'])}"
        is_any = not any(path.endswith(".so") for path in self.files)
        tag = "py3-none-any" if is_any else "cp311-cp311-linux_x86_64"
        info = f"{stem}.dist-info/"
        wheel = f"Wheel-Version: 1.0\nRoot-Is-Purelib: {str(is_any).lower()}\nTag: {tag}\n"
        members = self.files | {info + name: data for name, data in self.entries.items()}
        self.head.set_payload("")
        members |= {info + "METADATA": self.head.as_bytes(), info + "WHEEL": wheel.encode()}
        digests = {path: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() for path, data in members.items()}
        rows = [f'"{path}",sha256={digests[path]},{len(data)}' for path, data in members.items()]
        with zipfile.ZipFile(folder / f"{stem}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in members.items():
                archive.writestr(path, data)
            archive.writestr(info + "RECORD", "\n".join([*rows, f"{info}RECORD,,\n"]))
        return folder / f"{stem}-{tag}.whl"


def gather(work, needed):
    """A wheel in the folder for each package that has metadata."""
    debs, wheels = work / "debs", work / "wheels"
    for folder in (debs, wheels):
        folder.mkdir(parents=True, exist_ok=True)
    missing = sorted(set(needed) - {path.name.split("_")[0] for path in debs.glob("*.deb")})
    if missing:
        subprocess.run(["apt-get", "download", "-q", *missing], cwd=debs, stdout=subprocess.DEVNULL)
    for old in wheels.glob("*.whl"):
        old.unlink()
    read = {deb.name: deb for deb in map(Deb, sorted(debs.glob("*.deb"))) if deb.name in needed}
    parts = {name: whole_of(name) for name in read if whole_of(name) in read}
    for part, whole in parts.items():
        read[whole].files |= read[part].files
    read = {name: deb for name, deb in read.items() if deb.head and name not in parts}
    project = {name: deb.head["Name"] for name, deb in read.items()}
    project |= {part: project[whole] for part, whole in parts.items() if whole in project}
    return [deb.write(wheels, sorted({project[one] for one in needed[name] if one in project} - {project[name]}))
            for name, deb in read.items()]


def truth(given, python, folder, wheel, module):
    """("", "") where it imports, (why uv does not install it, why it does not import) otherwise."""
    with tempfile.TemporaryDirectory(dir=given.work) as target:
        uv = [given.uv, "pip", "install", "-q", "--no-config", "--offline", "--no-index", "--find-links", folder,
              "--python", python, "--target", target, wheel]
        if (done := run(uv, env={"PATH": "/usr/bin:/bin", "HOME": target, "UV_CACHE_DIR": given.work / "cache"})).returncode:
            return " ".join(done.stderr.split())[:300], ""
        env = {"PATH": "/usr/bin:/bin", "HOME": target, "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
        program = f"import site; site.addsitedir({target!r}); import {module}"
        done = run([python, "-W", "ignore", "-c", program], env=env, cwd="/")
        return "", (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][:200] if done.returncode else ""


def rule_of(here):
    why = here.get("why") or ""
    return REQUIRED if why.startswith("requires ") else next((rule for rule, pattern in RULES if re.search(pattern, why)), NO_RULE)


def answers(given, python, folder):
    """By file name."""
    with tempfile.TemporaryDirectory() as home:
        asked = run([given.avail_wheels.resolve(), "--wheelhouse", folder, "--why", "--all-versions", "--json", "*"],
                    env={"PATH": str(python.parent), "HOME": home})  # no other Python's pip is found
    return {wheel["filename"]: wheel["here"] for wheel in json.loads(asked.stdout)["wheels"]}


def judge(given, python, wheels):
    """Python's version, the answers for all that it takes, and a row for each wheel that is imported."""
    version = run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).stdout.strip()
    folder = given.work / version
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.whl"):
        old.unlink()
    fit = [wheel for wheel in (given.work / "wheels").glob("*.whl") if wheel.name.endswith("-any.whl") or version == "3.11"]
    for wheel in [*fit, *([] if version == "3.11" else (given.work / "beside").glob("*.whl"))]:
        (folder / wheel.name).hardlink_to(wheel)
    told = answers(given, python, folder)
    fit = [wheel for wheel in wheels if wheel in fit and module_of(wheel)]
    asked = {wheel: told.get(wheel.name, {"runs": "no", "why": "not listed"}) for wheel in fit}
    decided = [wheel for wheel, here in asked.items() if rule_of(here) not in (REQUIRED, NO_RULE)]
    others = sorted(set(asked) - set(decided), key=lambda wheel: by_hash(given.seed)(wheel.name))[:given.imported]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda wheel: truth(given, python, folder, wheel, module_of(wheel)), decided + others))
    rows = []
    for wheel, (refused, fails) in zip(decided + others, found, strict=True):
        real = "not installed" if refused else "fails" if fails else "imports"
        here = asked[wheel]
        rows.append([version, wheel.name, here["runs"], rule_of(here), real, here.get("why") or "-", refused or fails or "-"])
    return version, collections.Counter(here["runs"] for here in asked.values()), rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--work", "--avail-wheels", "--uv"):
        parser.add_argument(option, type=pathlib.Path, required=True)
    parser.add_argument("--python", type=pathlib.Path, action="append", required=True, help="one of an environment of its own")
    for option, number in (("--ranked", 300), ("--hashed", 200), ("--imported", 200)):
        parser.add_argument(option, type=int, default=number)
    parser.add_argument("--seed", default="2026-12-01")
    parser.add_argument("--but", type=pathlib.Path, help="the --write of an earlier list")
    parser.add_argument("--write", type=pathlib.Path)
    given = results.parse_arguments(parser)
    given.work = given.work.resolve()
    known = {line.split("\t")[1] for line in given.but.read_text().splitlines()} if given.but else set()
    wheels = [wheel for wheel in gather(given.work, choose(given.ranked, given.hashed, given.seed)) if wheel.name not in known]
    rows, table, misses = [], [], []
    for python in given.python:
        version, told, here = judge(given, python.absolute(), wheels)
        rows += here
        table += [results.row(f'Python {version}: read, "{runs}"', "wheels", "higher" if runs == "yes" else "lower", number)
                  for runs, number in sorted(told.items())]
        for (rule, runs, real), number in sorted(collections.Counter((row[3], row[2], row[4]) for row in here).items()):
            is_right = (runs, real) in (("yes", "imports"), ("no", "fails"))
            table.append(results.row(f'Python {version}: {rule}: "{runs}", {real}', "wheels", "higher" if is_right else "lower", number))
        misses += [f"Python {version}, {row[1].split('-')[0]}: \"{row[2]}\", and {row[4]}: {re.sub(r'/[^ ]*/', '', row[6])}" for row in here
                   if (row[2], row[4]) in (("yes", "fails"), ("no", "imports"))]
    print(*(f"{row['ours']:6} {row['measured']}" for row in table), *misses, sep="\n")
    if given.write:
        given.write.write_text("".join("\t".join(row) + "\n" for row in rows))
    results.record(given, "avail-everyday", "What avail_wheels says of Debian's packages of Python code, beside import", table, misses)


if __name__ == "__main__":
    main()
