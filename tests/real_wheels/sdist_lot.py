#!/usr/bin/env python3
"""Builds a lot of public source distributions with plain `pip wheel` and with the agent, one after the other, and compares.

  sdist_lot.py draw                  the 30 names of the lot, in the order in which they are built: sdist_lot.tsv, the smallest sdist first
  sdist_lot.py plain FOLDER [S]      `pip wheel --no-deps --no-binary NAME NAME` for each, at most LIMIT_S; begins none after S seconds
  sdist_lot.py agent FOLDER [NAME…]  the agent of WHEELYARD_BIN, local scheduler, one job at a time; names: these again
  sdist_lot.py table FOLDER          what both made, and the agent's cause of each failure

Left out by rule: what plain pip has not ended within LIMIT_S. Needs an index, a C compiler and what else the packages ask for: what
is missing shows the doctor's causes.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SEED = 20261128
SIZE = 30
LIMIT_S = 240


def draw() -> list[str]:
    names = [line for line in (HERE / "sdists.txt").read_text().splitlines() if line and not line.startswith("#")]
    drawn = random.Random(SEED).sample(names, SIZE)
    ordered = [line.split("\t")[0] for line in (HERE / "sdist_lot.tsv").read_text().splitlines() if not line.startswith("#")]
    assert sorted(ordered) == sorted(drawn), "sdist_lot.tsv lists other names than the seed draws"
    return ordered


def plain(folder: pathlib.Path, seconds: str = "inf") -> None:
    from support.site import PYTHON
    subprocess.run([PYTHON, "-m", "venv", folder / "venv"], check=True)
    until = time.monotonic() + float(seconds)
    for name in draw():
        if time.monotonic() > until:
            break
        into = folder / "plain" / name
        if (into / "result.json").exists():
            continue
        into.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        with (into / "log").open("w") as log:
            pip = subprocess.Popen([folder / "venv/bin/pip", "wheel", "--no-deps", "--no-cache-dir", "--no-binary", name, "-w", into, name],
                                   stdout=log, stderr=subprocess.STDOUT, cwd=folder, start_new_session=True)
            try:
                code = pip.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                os.killpg(pip.pid, signal.SIGKILL)  # with the compilers
                code = -1
        made = [path.name for path in into.glob("*.whl")]
        result = {"code": code, "seconds": round(time.monotonic() - begin), "wheels": made}
        (into / "result.json").write_text(json.dumps(result))
        print(name, result, flush=True)


def results(folder: pathlib.Path) -> dict[str, dict]:
    return {name: json.loads((folder / "plain" / name / "result.json").read_text()) for name in draw()
            if (folder / "plain" / name / "result.json").exists()}


def agent(folder: pathlib.Path, *given: str) -> None:
    from support.farm import Farm
    from support.site import Site

    class Index:
        """The machine's own: what PIP_… and PATH say here, and the home, where rustup has its toolchains."""
        pip_environment = {key: value for key, value in os.environ.items() if key.startswith("PIP_") or key in ("PATH", "HOME")}

    names = given or [name for name, result in results(folder).items() if result["code"] != -1 or result["wheels"]]
    with Farm() as farm:
        token = farm.create_token()
        farm.start()
        site = Site(farm, Index(), token, dict.fromkeys(names, "latest"), scheduler='kind = "local"\nmax_jobs = 1\n', python="/usr/bin/python3")
        with (folder / "agent.log").open("w") as log:
            run = subprocess.Popen(site.command("run"), env=site.environment | {"PIP_CONFIG_FILE": os.devnull}, stdout=log,
                                   stderr=subprocess.STDOUT)
            try:
                run.wait(LIMIT_S * len(names))
            except subprocess.TimeoutExpired:  # what waits for a network that does not come back is built again and again
                run.terminate()
                run.wait()
        plan = site.plan()
        explained = {name: site.builder("explain", name).stdout for name in names}
        made = folder / "agent.json"
        before = json.loads(made.read_text()) if given else {"plan": {}, "explain": {}}
        made.write_text(json.dumps({"plan": before["plan"] | plan, "explain": before["explain"] | explained}, indent=1))


def table(folder: pathlib.Path) -> None:
    made = json.loads((folder / "agent.json").read_text())
    for name, result in results(folder).items():
        cell = made["plan"].get(name, {"state": "left out", "reason": f"plain pip took more than {LIMIT_S} s"})
        print(f"{name}\t{'wheel' if result['wheels'] else 'none'}\t{cell['state']}\t{cell['reason'][:300]}")
    print(f"plain {sum(bool(result['wheels']) for result in results(folder).values())}, "
          f"agent {sum(cell['state'] == 'have' for cell in made['plan'].values())}")


def main() -> None:
    sys.path.insert(0, str(HERE.parent / "system"))
    if sys.argv[1] == "draw":
        return print("\n".join(draw()))
    {"plain": plain, "agent": agent, "table": table}[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve(), *sys.argv[3:])


main()
