#!/usr/bin/env python3
"""How long do `avail_wheels torch` and `avail_wheels '*'` take over 100,000 wheels, compared with a Python script?

    cmake --build --preset release --target avail_wheels
    python3 -m venv /tmp/v && /tmp/v/bin/pip install packaging
    bench/avail_query.py --build build/release --python /tmp/v/bin/python

Creates a catalogue of 100,000 wheels of 10,000 packages (with facts, as an indexer writes it) and a folder with files of
the same names below --work, and runs the same queries on both in turns: warm, without network. First checks that both
print the same names and versions. Each wheel requires three others; `'*' --why`, which judges them, has no peer. Wall and CPU time are of the whole process, including its start.
"""

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import results

FACTS = {"machines": ["x86_64"], "symbol_floors": {"CXXABI": "1.3.13", "GLIBC": "2.34", "GLIBCXX": "3.4.30"},
         "needed": {"cuda": ["libcublas.so.12", "libcudart.so.12"]}, "modules": ["cudacore/12.2.2"],
         "cuda_sm": ["sm_70", "sm_80", "sm_86", "sm_90"]}


def make_names(packages: int, wheels: int) -> dict[str, list[tuple[str, str]]]:
    """Key → (version, file name), newest first, with as many versions and tags per package as needed."""
    chance = random.Random(7)
    names = ["torch"] + [f"pkg{i:05d}" for i in range(1, packages)]
    tags = ["cp313-cp313-linux_x86_64", "cp312-cp312-linux_x86_64", "cp311-cp311-linux_x86_64", "cp310-cp310-linux_x86_64"]
    out = {}
    left = wheels
    for position, name in enumerate(names):
        share = max(1, round(left / (len(names) - position)))
        if name == "torch":
            share = 200
        versions = []
        pure = chance.random() < 0.4 and name != "torch"
        number = 40
        while len(versions) < share:
            version = f"{number // 10 + 1}.{number % 10}.{chance.randrange(6)}"
            for tag in (["py3-none-any"] if pure else tags):
                if len(versions) < share:
                    versions.append((version, f"{name}-{version}-{tag}.whl"))
            number -= 1
            if number < 0:
                break
        left -= len(versions)
        out[name] = versions
    return out


def write_catalogue(names: dict[str, list[tuple[str, str]]], file: Path) -> None:
    directory, lines, facts = [], [], []
    lines_at = facts_at = wheels = 0
    chance, keys = random.Random(3), sorted(names)
    for key in keys:
        its_lines = "".join(f"{filename}\t\t>=3.9\t2026-11-20T12:00:00.000000Z\t1234567\t{random.Random(filename).randbytes(32).hex()}\n"
                            for _, filename in names[key])
        required = {"requires_dist": [f"{chance.choice(keys)}>={chance.randrange(1, 3)}.0" for _ in range(3)], "built": {"site": "bench"}}
        its_facts = "".join(json.dumps(required if "any" in filename else FACTS | required, separators=(",", ":")) + "\n"
                            for _, filename in names[key])
        directory.append(f"{key}\t{len(names[key])}\t{lines_at}\t{len(its_lines)}\t{facts_at}\t{len(its_facts)}\n")
        lines.append(its_lines)
        facts.append(its_facts)
        lines_at += len(its_lines)
        facts_at += len(its_facts)
        wheels += len(names[key])
    text = "".join(directory)
    head = f"wheelyard.catalogue/1\t1\t0\t2026-11-20T12:00:00.000000Z\tbench\t{len(names)}\t{wheels}\t{len(text)}\t{lines_at}\t{facts_at}\n"
    file.write_text(head + text + "".join(lines) + "".join(facts))


def run(command: list[str], environment: dict[str, str]) -> tuple[float, float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime), done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has packaging")
    parser.add_argument("--packages", type=int, default=10_000)
    parser.add_argument("--wheels", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--work", type=Path, default=None, help="a folder on a local disk; default: a temporary one")
    options = results.parse_arguments(parser)
    rows = []
    work = Path(tempfile.mkdtemp(prefix="wheelyard-avail-", dir=options.work))
    try:
        names = make_names(options.packages, options.wheels)
        index, house = work / "index" / "simple", work / "house"
        index.mkdir(parents=True)
        house.mkdir()
        write_catalogue(names, index / "catalogue.txt")
        for versions in names.values():
            for _, filename in versions:
                (house / filename).touch()
        count = sum(map(len, names.values()))
        size = (index / "catalogue.txt").stat().st_size
        print(f"{count} wheels of {len(names)} packages, catalogue {size / 1e6:.1f} MB, load {os.getloadavg()[0]:.1f}, {options.rounds} rounds")
        environment = {"PATH": os.environ["PATH"], "HOME": str(work), "WHEELHOUSE": str(work / "index")}
        program = str(options.build / "bin" / "avail_wheels")
        peer = str(Path(__file__).parent / "avail_python.py")
        for question in ("torch", "*"):
            ours, theirs = [program, question], [options.python, peer, str(house), question]
            if run(ours, environment)[2] != run(theirs, environment)[2]:
                print(f"{question}: the two answers differ")
                return 1
            times: dict[str, list[tuple[float, float]]] = {"ours": [], "theirs": []}
            for _ in range(options.rounds):
                times["ours"].append(run(ours, environment)[:2])
                times["theirs"].append(run(theirs, environment)[:2])
            for at, kind in enumerate(("wall", "CPU")):
                rows.append(results.row(f"avail_wheels '{question}', {kind}", "ms", "lower", [pair[at] * 1e3 for pair in times["ours"]],
                                        "Python script over a folder", [pair[at] * 1e3 for pair in times["theirs"]]))
            median = {who: [statistics.median(pair[i] for pair in pairs) * 1e3 for i in (0, 1)] for who, pairs in times.items()}
            least = {who: [min(pair[i] for pair in pairs) * 1e3 for i in (0, 1)] for who, pairs in times.items()}
            print(f"{question!r}: avail_wheels {median['ours'][0]:.1f} ms wall, {median['ours'][1]:.1f} ms CPU "
                  f"(best {least['ours'][0]:.1f}, {least['ours'][1]:.1f}); Python {median['theirs'][0]:.0f} ms wall, "
                  f"{median['theirs'][1]:.0f} ms CPU (best {least['theirs'][0]:.0f}, {least['theirs'][1]:.0f}); "
                  f"ratio {median['theirs'][0] / median['ours'][0]:.0f} wall, {median['theirs'][1] / median['ours'][1]:.0f} CPU")
        judged = [run([program, "*", "--why"], environment)[1] * 1e3 for _ in range(options.rounds)]
        rows.append(results.row("avail_wheels '*' --why, CPU", "ms", "lower", judged))
        print(f"'*' --why: {statistics.median(judged):.0f} ms CPU (best {min(judged):.0f})")
        results.record(options, "avail-query", f"A query over a wheel list of {count:,} wheels", rows)
    finally:
        shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
