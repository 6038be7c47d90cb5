#!/usr/bin/env python3
"""What `avail_wheels` answers for the packages that most others of a distribution require, beside a real import by this machine's Pythons.

    bench/avail_everyday.py --packages PACKAGES.tsv --wheels FOLDER --python FILE --avail-wheels FILE [--names 150] [--write FILE]

The names are those of Debian's python3-NAME that most packages depend on, by `apt-cache dumpavail`, where PACKAGES.tsv (a list of an
index's packages, as of tests/real_wheels/choose.py) has NAME, too. pip downloads each with all that it requires into FOLDER, and only what
is missing there. Judged is every wheel that comes, each with all that it requires: pip installs it from FOLDER alone, and FILE, a Python
without packages of its own, imports the module of the project's name, else the first public one. A miss is a "yes" that fails or a "no"
that imports; pairs that pip does not install are counted apart.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import tempfile

from avail_sample import module_of

LIMIT_S = 300


def everyday_names(packages, wanted):
    known = {line.split("\t", 1)[0].lower().replace("_", "-") for line in packages.read_text(errors="replace").splitlines()}
    text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    depended = collections.Counter()
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Depends): (.*)$", block, re.M))
        depended.update(set(re.findall(r"\bpython3-([a-z0-9.+-]+)", fields.get("Depends", ""))) - {fields.get("Package", "")[8:]})
    names = sorted((name for name in depended if name in known), key=lambda name: (-depended[name], name))
    return names[:wanted]


def run(command, **more):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, stdin=subprocess.DEVNULL, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "no end")


def last_line(done):
    return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][:200]


def truth(python, wheel, folder, module):
    """("", "") where it imports, (why pip does not install it, why it does not import) otherwise."""
    with tempfile.TemporaryDirectory() as target:
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--find-links", folder, "--no-compile",
               "--target", target, wheel]
        if (done := run(pip)).returncode:
            return last_line(done), ""
        env = {"PATH": "/usr/bin:/bin", "HOME": target, "PYTHONPATH": target, "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
        done = run([python, "-c", f"import {module}"], env=env, cwd=target)
        return "", last_line(done) if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--packages", "--wheels", "--python", "--avail-wheels"):
        parser.add_argument(option, type=pathlib.Path, required=True)
    parser.add_argument("--names", type=int, default=150)
    parser.add_argument("--write", type=pathlib.Path, help="a line for each wheel")
    given = parser.parse_args()
    given.wheels.mkdir(parents=True, exist_ok=True)
    for name in everyday_names(given.packages, given.names):
        if not (done := given.wheels / f".asked-{name}").exists():
            run([given.python, "-m", "pip", "download", "-q", "--only-binary", ":all:", "--no-cache-dir", "-d", given.wheels, name])
            done.touch()
    with tempfile.TemporaryDirectory() as home:
        asked = run([given.avail_wheels.resolve(), "--wheelhouse", given.wheels, "--why", "--all-versions", "--json", "*"],
                    env={"PATH": f"{given.python.parent}:/usr/bin:/bin", "HOME": home})
    answers = {wheel["filename"]: wheel["here"] for wheel in json.loads(asked.stdout)["wheels"]}
    rows, count = [], collections.Counter()
    for wheel in sorted(given.wheels.glob("*.whl")):
        if not (module := module_of(wheel)):
            count["no module"] += 1
            continue
        refused, fails = truth(given.python, wheel, given.wheels, module)
        if refused:
            count["not installed"] += 1
            continue
        here = answers.get(wheel.name, {"runs": "no", "why": "not listed"})
        real = "fails" if fails else "imports"
        count[f"{here['runs']} {real}"] += 1
        rows.append("\t".join([wheel.name, module, here["runs"], real, here.get("why") or "-", fails or "-"]))
        if (here["runs"], real) in (("yes", "fails"), ("no", "imports")):
            print("MISS", rows[-1], flush=True)
    print(given.python, *(f"{key}: {value}" for key, value in sorted(count.items())), sep="\n  ")
    if given.write:
        given.write.write_text("# wheel\tmodule\tavail_wheels\tin truth\tits reason\twhat Python said\n" + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
