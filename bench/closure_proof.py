#!/usr/bin/env python3
"""What does the farm make of public packages with `closure`, and what does fromager make of the same list?

    python3 -m venv PEERS && PEERS/bin/pip install fromager==0.77.0
    WHEELYARD_BIN=build/release/bin bench/closure_proof.py compiled|source --peers PEERS [--only NAME…]

closure_packages.tsv has the list and the rule that chose it. A registry, a site with one want for each name, one job at a time; then
the agent runs again, which must build nothing; then pip installs every wheel that was wanted from that index alone, all in one
environment, and imports what each has. fromager builds the same names one at a time, and is installed and imported likewise from
its folder; it takes no wheel of an index, so only `source` asks the same of both. Both read pip's configuration of this
machine, and have the compilers of PATH. CPU and memory are those of all processes that each started; memory is that of the
largest process.
"""

import argparse
import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
import results  # noqa: E402
from support.farm import Farm  # noqa: E402
from support.site import PYTHON, Site  # noqa: E402

LIST = Path(__file__).resolve().parent / "closure_packages.tsv"
PR_SET_CHILD_SUBREAPER = 36
STOPPED = "stopped at the limit"
# The modules of a distribution, as its files say: its topmost packages, also those in a namespace, and modules of their own.
IMPORTS = """
import importlib, importlib.metadata, sys
failed = 0
for name in sys.argv[1:]:
    files = [file for file in importlib.metadata.files(name) or [] if ".." not in file.parts]
    packages = {file.parts[:-1] for file in files if file.name == "__init__.py" and all(part.isidentifier() for part in file.parts[:-1])}
    tops = {".".join(parts) for parts in packages if not any(parts[:size] in packages for size in range(1, len(parts)))}
    tops |= {file.name.split(".")[0] for file in files if len(file.parts) == 1 and file.suffix in (".py", ".so")}
    try:
        for top in sorted(tops):
            importlib.import_module(top)
        if not tops:
            raise ImportError("it has no module")
        print("imports", name, *sorted(tops))
    except Exception as error:
        failed += 1
        print("fails", name, repr(error)[:200])
sys.exit(failed != 0)
"""


class Machine:
    """The machine's own index and tools, as a site's user has them."""
    pip_environment = {key: value for key, value in os.environ.items()
                       if key.startswith("PIP_") or key.endswith(("_CA_BUNDLE", "SSL_CERT_FILE")) or key in ("PATH", "HOME")}


def read_list(mode: str) -> list[str]:
    rows = [line.split("\t") for line in LIST.read_text().splitlines() if not line.startswith("#")]
    return [name for _, name, modes, *_ in rows if mode in modes.split(",")]


def measured(command: list[str], log: Path, limit_s: float, **more) -> dict:
    """Runs it in a process of its own, which inherits what it leaves behind, so that nothing is missing in the sums."""
    begun = time.monotonic()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            with log.open("w") as file:
                run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, **more)
                try:
                    code = run.wait(limit_s)
                except subprocess.TimeoutExpired:
                    run.terminate()
                    code = STOPPED
                    run.wait()
            while True:
                try:
                    os.wait()
                except ChildProcessError:
                    break
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            answer = {"code": code, "cpu_s": used.ru_utime + used.ru_stime, "largest_mib": used.ru_maxrss / 1024}
            os.write(writing, json.dumps(answer).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) | {"wall_s": time.monotonic() - begun}


def install_and_import(folder: Path, names: list[str], place: list[str]) -> tuple[int, str]:
    """How many of these can be imported, from one environment that `place` alone filled."""
    if not names:
        return 0, ""
    subprocess.run([PYTHON, "-m", "venv", folder], check=True)
    pip = [folder / "bin/python", "-m", "pip", "--isolated", "install", "--quiet", "--no-cache-dir", "--only-binary", ":all:", *place]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run([*pip, *names], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        return 0, done.stderr
    done = subprocess.run([folder / "bin/python", "-I", "-c", IMPORTS, *names], env=environment, cwd=folder, capture_output=True, text=True)
    return done.stdout.count("imports "), "\n".join(line for line in done.stdout.splitlines() if line.startswith("fails"))


def ours(folder: Path, mode: str, names: list[str], limit_s: float) -> dict:
    (folder / "farm").mkdir()
    with Farm(folder=folder / "farm") as farm:
        token = farm.create_token()
        farm.start()
        site = Site(farm, Machine(), token, dict.fromkeys(names, "latest"), scheduler='kind = "local"\nmax_jobs = 1\n', python=PYTHON)
        site.file.write_text(site.file.read_text().replace('versions = ["latest"]\n', f'versions = ["latest"]\nclosure = "{mode}"\n'))
        found = measured(site.command("run"), folder / "run.log", limit_s, env=site.environment)
        cells = json.loads(site.builder("plan", "--json").stdout)["cells"]
        attempts = len(site.attempts())
        if found["code"] != STOPPED:
            found["again"] = measured(site.command("run"), folder / "again.log", limit_s, env=site.environment)
            found["built_again"] = len(site.attempts()) - attempts
        found["wheels"] = sorted(path.name for path in farm.tree.rglob("*.whl"))
        found["cells"] = [{key: cell[key] for key in ("package", "version", "state", "reason")} for cell in cells]
        found["had"] = [name for name in names if any(cell["package"] == name and cell["state"] == "have" for cell in cells)]
        found["imported"], found["import_failures"] = install_and_import(folder / "ours", found["had"], ["--index-url", farm.simple_url()])
    return found


def fromagers(folder: Path, peers: Path, names: list[str], limit_s: float) -> dict:
    folder.mkdir()
    environment = Machine.pip_environment | {"LANG": "C.UTF-8", "PATH": f"{peers / 'bin'}:{os.environ['PATH']}"}
    found = measured([str(peers / "bin/fromager"), "--no-network-isolation", "--jobs", "1", "bootstrap", "--test-mode", "--skip-constraints",
                      *names], folder / "log", limit_s, env=environment, cwd=folder)
    made = folder / "wheels-repo" / "downloads"
    found["wheels"] = sorted(path.name for path in made.glob("*.whl"))
    stems = {wheel.split("-")[0].replace("_", "-").lower() for wheel in found["wheels"]}
    found["had"] = [name for name in names if name in stems]
    found["imported"], found["import_failures"] = install_and_import(folder / "venv", found["had"], ["--no-index", "--find-links", str(made)])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", choices=("compiled", "source"))
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--peers", type=Path, help="an environment with fromager")
    parser.add_argument("--limit", type=float, default=20, help="minutes for each of the two, by default 20")
    parser.add_argument("--work", type=Path, help="keeps everything in this folder")
    options = results.parse_arguments(parser)
    names = options.only or read_list(options.mode)
    work = options.work.resolve() if options.work else Path(tempfile.mkdtemp(prefix="closure-proof-"))
    work.mkdir(parents=True, exist_ok=True)
    found = {"ours": ours(work, options.mode, names, options.limit * 60)}
    if options.peers:
        found["fromager"] = fromagers(work / "fromager", options.peers.resolve(), names, options.limit * 60)
    (work / "found.json").write_text(json.dumps(found, indent=1) + "\n")
    for who, one in found.items():
        print(f"{who}: {len(one['had'])} of {len(names)}, {one['imported']} import, {len(one['wheels'])} wheels, "
              f"{one['wall_s']:.0f} s, {one['cpu_s']:.0f} s of CPU, {one['largest_mib']:.0f} MiB, code {one['code']}")
        print(one["import_failures"])
    print("the second run of ours built", found["ours"].get("built_again", "nothing, as there was none"))
    for cell in found["ours"]["cells"]:
        if cell["state"] != "have":
            print(cell["package"], cell["version"], cell["state"], cell["reason"][:300])
    peer, theirs = ("fromager 0.77.0", found["fromager"]) if options.peers else ("", None)
    what = f"{options.mode}, {len(names)} packages"

    def row(measured: str, unit: str, better: str, value) -> dict:
        return results.row(f"{what}: {measured}", unit, better, value(found["ours"]), *((peer, [value(theirs)]) if theirs else ()))
    results.record(options, f"closure-{options.mode}", f"Packages with all they need, `closure = \"{options.mode}\"`", [
        row("had", "of them", "higher", lambda one: len(one["had"])),
        row("installed from that index alone, and imported", "of them", "higher", lambda one: one["imported"]),
        row("wheels made or taken", "wheels", "lower", lambda one: len(one["wheels"])),
        row("wall", "s", "lower", lambda one: one["wall_s"]), row("CPU", "s", "lower", lambda one: one["cpu_s"]),
        row("largest process", "MiB", "lower", lambda one: one["largest_mib"]),
        *([results.row(f"{what}: built by a second run", "wheels", "lower", [found["ours"]["built_again"]])] if "built_again" in found["ours"] else [])],
        [f"Asked for: {', '.join(names)}. Of them {options.limit:g} minutes at most were waited for."]
        + [f"{who} did not make: {', '.join(sorted(set(names) - set(one['had'])))}." for who, one in found.items() if set(names) - set(one["had"])])
    if not options.work:
        shutil.rmtree(work, ignore_errors=True)


main()
