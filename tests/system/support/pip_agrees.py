"""The question whether `avail_wheels --here` and pip agree: a wheelhouse with every kind of tag, and pip's own choice from it."""

import json
import random
from collections.abc import Iterable
from pathlib import Path

from support.wheels import Wheel

WHEELS = 6  # of each project, the first of which every Python takes


def some_tag(chance: random.Random, minor: int, machine: str) -> str:
    """A set of tags near what Python 3.`minor` on `machine` takes, or far from it."""
    python = chance.choice(["py3", "py2.py3", f"py3{minor}", f"py3{minor + 1}", f"py3{minor - 1}", "py2", f"cp3{minor}",
                            f"cp3{minor - 1}", f"cp3{minor + 1}", "cp32", "pp39", "ip27", "cp3"])
    abi = chance.choice(["none", "abi3", f"cp3{minor}", f"cp3{minor}t", f"cp3{minor - 1}", f"cp3{minor}d", "none.abi3"])
    machine = chance.choice([machine] * 6 + ["aarch64", "i686", "ppc64le"])
    platform = chance.choice(["any", f"linux_{machine}", f"manylinux1_{machine}", f"manylinux2010_{machine}",
                              f"manylinux2014_{machine}", f"manylinux_2_17_{machine}", f"manylinux_2_28_{machine}",
                              f"manylinux_2_36_{machine}", f"manylinux_2_37_{machine}", f"manylinux_2_41_{machine}",
                              f"manylinux_2_42_{machine}", f"manylinux_3_0_{machine}",
                              f"manylinux_2_5_{machine}.manylinux_2_99_{machine}", f"musllinux_1_2_{machine}",
                              "win_amd64", "macosx_11_0_arm64", f"any.linux_{machine}"])
    return f"{python}-{abi}-{platform}"


def fill(house: Path, chance: random.Random, projects: int, minor: int, machine: str) -> dict[str, list[Wheel]]:
    """Writes the wheels; those of each project, oldest first."""
    made: dict[str, list[Wheel]] = {}
    for name in (f"yard{i:03d}" for i in range(projects)):
        made[name] = [Wheel(name, "0.1")]  # so that pip always finds one
        for version in range(1, WHEELS):
            requires = chance.choice([None, None, f">=3.{minor}", f">=3.{minor + 1}", f"<3.{minor}", "!=2.7.*"])
            made[name].append(Wheel(name, f"{version}.0", tags=(some_tag(chance, minor, machine),), requires_python=requires))
        for wheel in made[name]:
            wheel.write(house)
    return made


def write_catalogue(house: Path, made: dict[str, list[Wheel]]) -> None:
    """The same wheels as an index has them in its wheel list (docs/reference/wheel-list.md)."""
    directory = lines = ""
    for number, name in enumerate(sorted(made)):
        its = "".join(f"{wheel.filename}\t\t{wheel.requires_python or ''}\t\t\t\n" for wheel in reversed(made[name]))
        directory += f"{name}\t{len(made[name])}\t{len(lines)}\t{len(its)}\t{number * WHEELS}\t{WHEELS}\n"
        lines += its
    wheels = len(made) * WHEELS
    head = f"wheelyard.catalogue/1\t1\t0\t\tnodes\t{len(made)}\t{wheels}\t{len(directory)}\t{len(lines)}\t{wheels}\n"
    (house / "catalogue.txt").write_text(head + directory + lines + "\n" * wheels)


def pip_arguments(house: Path, report: Path, names: Iterable[str]) -> list[str]:
    """Of pip, so that it says what it would install and installs nothing."""
    return ["install", "--dry-run", "--ignore-installed", "--no-deps", "--no-index", "--isolated", "--disable-pip-version-check",
            "--find-links", str(house), "--quiet", "--report", str(report), *names]


def taken_by_pip(report: str) -> dict[str, str]:
    """Name → version, of pip's report."""
    return {item["metadata"]["name"]: item["metadata"]["version"] for item in json.loads(report)["install"]}


def listed(document: str) -> dict[str, str]:
    """Name → version, of `avail_wheels --here --json`; nothing in it may be said not to run."""
    wheels = json.loads(document)["wheels"]
    refused = [wheel["filename"] for wheel in wheels if wheel["here"]["runs"] == "no"]
    if refused:
        raise AssertionError(f"--here lists what does not run: {refused}")
    return {wheel["name"]: wheel["version"] for wheel in wheels}
