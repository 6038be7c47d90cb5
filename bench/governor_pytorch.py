#!/usr/bin/env python3
"""How near the bound does the governor come on real compiles, of PyTorch 1.13.1?

  bench/governor_pytorch.py --bin build/release/bin --scratch DIR --prepare-only
  bench/governor_pytorch.py --bin build/release/bin --scratch DIR --profile FILE.csv --count 40 --budget-minutes 25 --json FILE
                            [--memory-mib 2600] [--cores 2] [--opt=-O0] [--ways true,oracle,first,history,half,j1,fail]

In DIR (kept, so that a second run is quick) it fetches Debian's source package pytorch (the original tarball is enough)
and the -dev packages that replace its third_party, unpacks both there without installing anything, configures for
the CPU with CMake under the governor, makes the generated sources, and draws `count` of the compiles, the largest of
--profile (data of an earlier run: source,cpu_s,max_rss_kib) among them. Each way builds exactly these from nothing, as
root in a memory cgroup of --memory-mib where one can be made: by default a quarter more than the largest peak that `true`
saw, so that everything fits alone and the heavy ones do not fit beside each other.

  true      governed, with memory enough: the true peaks and times, and so the bound max(sum of CPU time / cores,
            sum of time x peak / limit) that all wall times are divided by; what does not compile here is left out from then on
  oracle    governed under the limit, with the true peaks as history
  first     governed under the limit, without history;  history: with what `first` learnt;  half: with every other line of it
  j1        ninja -j1
  fail      what a person does: ninja -j CORES until it dies, then -j1 for the rest (where it survives it is the best fixed -j)
  jN        ninja -jN

With --budget-minutes each way is estimated from the first one's times; what does not fit into the time that is left is
named and left out. --json is written after every way; with --resume the ways that it has are not run again, so that a
measurement may stop and go on. --opt replaces PyTorch's own -O3 in CMake's Release flags, so
that more compiles fit into the time: peaks and times are then others (kernels that ask for -O3 by themselves keep it).
"""

import argparse
import contextlib
import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "system"))
import results
from support.governed import MIB, entering, kernel_kills, memory_group  # the same cgroups as the tests make

VERSION = "1.13.1"
PACKAGES = """libsleef-dev libxnnpack-dev libonnx-dev libflatbuffers-dev libbenchmark-dev libprotobuf-dev
protobuf-compiler libcpuinfo-dev libpsimd-dev libfp16-dev libfxdiv-dev libpthreadpool-dev libgoogle-glog-dev
libgflags-dev libeigen3-dev pybind11-dev libnuma-dev libfmt-dev""".split()
SUITE = "bookworm"
OFF = """USE_CUDA USE_ROCM USE_DISTRIBUTED USE_MKLDNN USE_FBGEMM USE_KINETO USE_NNPACK USE_QNNPACK USE_PYTORCH_QNNPACK
USE_FFTW USE_MKL USE_ITT BUILD_TEST BUILD_CAFFE2 BUILD_CAFFE2_OPS USE_BREAKPAD USE_TENSORPIPE USE_GLOO USE_NCCL USE_MPI
USE_OPENCV USE_FFMPEG USE_LEVELDB USE_LMDB USE_REDIS USE_ROCKSDB BUILD_FUNCTORCH BUILD_PYTHON USE_NUMPY USE_MAGMA USE_XNNPACK""".split()
ON = "USE_SYSTEM_LIBS USE_OPENMP".split()
ENOUGH_MIB = 16 << 10
ROOM_FOR_LARGEST = 1.25
GOVERNED = {"true": "true", "oracle": "oracle", "first": "first", "history": "first", "half": "half"}  # way → its history file
LABELS = {"true": "memory enough", "oracle": "true peaks", "first": "first build", "history": "with history", "half": "half a history",
          "fail": "ninja -jN, then -j1"}


def run(command: list, **options) -> subprocess.CompletedProcess:
    return subprocess.run(list(map(str, command)), check=True, **options)


def fetch(scratch: Path) -> None:
    """Sources, and the packages' files under root/."""
    lists = scratch / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    known = run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)"], stdout=subprocess.PIPE, text=True).stdout
    mirror = next(line.split()[0] for line in known.splitlines() if line.split()[1:] == [SUITE])  # this machine's own
    (scratch / "sources.list").write_text(f"deb-src {mirror} {SUITE} main\ndeb {mirror} {SUITE} main\n")
    apt = ["-qq", "-o", f"Dir::Etc::sourcelist={scratch}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", f"Dir::State::lists={lists}"]
    run(["apt-get", *apt, "update"])
    # The packaging archive may be gone from the mirror; the original one is what is needed.
    subprocess.run(["apt-get", *apt, "source", "--download-only", "pytorch"], cwd=scratch, stderr=subprocess.DEVNULL)
    plan = run(["apt-get", *apt, "-s", "--no-install-recommends", "install", *PACKAGES], stdout=subprocess.PIPE, text=True)
    wanted = [line.split()[1] for line in plan.stdout.splitlines() if line.startswith("Inst ")]
    debs = scratch / "debs"
    debs.mkdir(exist_ok=True)
    if wanted:
        run(["apt-get", *apt, "download", *wanted], cwd=debs)
    for deb in debs.glob("*.deb"):
        run(["dpkg", "-x", deb, scratch / "root"])


def unpack(scratch: Path) -> Path:
    source = scratch / f"pytorch-{VERSION}"
    if not source.exists():
        run(["tar", "xf", *scratch.glob("pytorch_*.orig.tar.xz")], cwd=scratch)
        path = source / "cmake" / "Dependencies.cmake"
        text = path.read_text()
        text = text.replace("add_subdirectory(${PROJECT_SOURCE_DIR}/third_party/fmt)", "find_package(fmt REQUIRED)")
        text = text.replace('set_target_properties(fmt-header-only PROPERTIES INTERFACE_COMPILE_FEATURES "")', "")
        text = re.sub(r"\n\s*add_subdirectory\([^\n]*third_party/foxi EXCLUDE_FROM_ALL\)", "", text)
        text = text.replace("list(APPEND Caffe2_DEPENDENCY_LIBS foxi_loader)", "")
        text = text.replace('"/usr/include/fp16.h"', f'"{scratch}/root/usr/include/fp16.h"')
        text = text.replace("if(NOT AT_MKL_ENABLED)\n  set(POCKETFFT", "if(FALSE)\n  set(POCKETFFT")
        path.write_text(text)
    return source


class Bench:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.scratch = options.scratch.resolve()
        # CMake writes its path into every rule, so it is one that stays whatever --bin is.
        self.governor = self.scratch / "bin" / "wheelyard-governor"
        self.governor.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.governor.with_suffix(".tmp")
        shutil.copy2(options.bin / "wheelyard-governor", temporary)
        temporary.replace(self.governor)
        self.build_folder = self.scratch / ("build" + options.opt)
        root = self.scratch / "root" / "usr"
        library = root / "lib" / "x86_64-linux-gnu"
        self.environment = os.environ | {
            "XDG_CACHE_HOME": str(self.scratch / "cache"), "CCACHE_DISABLE": "1", "CMAKE_PREFIX_PATH": str(root),
            "CPATH": f"{root}/include:{root}/include/x86_64-linux-gnu:{root}/include/eigen3",
            "LIBRARY_PATH": str(library), "LD_LIBRARY_PATH": str(library), "PATH": f"{root}/bin:{os.environ['PATH']}"}
        self.limit = options.memory_mib * MIB  # 0: not known before `true`
        self.bound = self.compile_s = 0.0
        self.results: list[dict] = []
        self.objects: list[str] = []

    def configure(self, source: Path) -> None:
        if (self.build_folder / "build.ninja").exists():
            return
        flags = [f"-D{name}=OFF" for name in OFF] + [f"-D{name}=ON" for name in ON]
        if self.options.opt:
            flags += [f"-DCMAKE_{language}_FLAGS_RELEASE={self.options.opt} -DNDEBUG" for language in ("C", "CXX")]
        run([self.governor, "--quiet", "--no-history", "--", "cmake", "-G", "Ninja", "-S", source, "-B", self.build_folder,
             "-DCMAKE_BUILD_TYPE=Release", "-DBLAS=Eigen", "-DCMAKE_CXX_FLAGS=-w", f"-DPYTHON_EXECUTABLE={sys.executable}", *flags], env=self.environment)

    def choose(self) -> list[str]:
        """Objects: the largest that --profile knows, the rest drawn at random, heaviest last as PyTorch has them."""
        graph = run(["ninja", "-t", "targets", "all"], cwd=self.build_folder, stdout=subprocess.PIPE, text=True).stdout
        objects = [line.split(":")[0] for line in graph.splitlines() if re.search(r"\.cpp\.o: CXX_COMPILER", line)]
        area = {}
        if self.options.profile:
            with self.options.profile.open() as file:
                area = {row["source"].removeprefix("build/"): float(row["cpu_s"]) * float(row["max_rss_kib"]) for row in csv.DictReader(file)}
        weight = {name: max((value for source, value in area.items() if source in name), default=0) for name in objects}
        heavy = sorted((name for name in objects if weight[name]), key=weight.get)[-self.options.count // 5:]
        rest = [name for name in objects if name not in heavy]
        random.Random(self.options.seed).shuffle(rest)
        return rest[:self.options.count - len(heavy)] + heavy

    def generate(self) -> None:
        """What compiles need generated, outside of every measurement."""
        order = run(["ninja", "-t", "query", self.objects[0]], cwd=self.build_folder, stdout=subprocess.PIPE, text=True).stdout
        needed = [line.split()[-1] for line in order.splitlines() if line.strip().startswith("|| ")]
        if needed:
            run([self.governor, "--quiet", "--no-history", "--", "ninja", *needed], cwd=self.build_folder,
                env=self.environment, stdout=subprocess.DEVNULL)

    def left(self) -> list[str]:
        return [name for name in self.objects if not (self.build_folder / name).exists()]

    def run_in_group(self, command: list, limit: int) -> dict:
        """Builds what is left; the group's own count of peak memory is of all processes, page cache included."""
        with memory_group(limit) as group:
            begun, kills, before = time.monotonic(), kernel_kills(), os.times()
            done = subprocess.run(entering(group, [*command, *self.left()]), cwd=self.build_folder, env=self.environment,
                                  capture_output=True, text=True)
            now = os.times()
            row = {"wall_s": round(time.monotonic() - begun, 1),
                   "cpu_s": round(now.children_user + now.children_system - before.children_user - before.children_system, 1),
                   "survived": done.returncode == 0, "kernel_oom_kills": kernel_kills() - kills,
                   "failed_edges": done.stdout.count("FAILED: ")}
            if group:
                row["group_high_water_part"] = round(group.peak_bytes() / limit, 3)
        if done.returncode != 0:
            row["last_words"] = (done.stdout + done.stderr)[-400:]
        return row

    def governed(self, history: str) -> list:
        return [self.governor, "--cores", self.options.cores, "--history", self.scratch / history, "--progress", "60",
                "--json", "summary.json", "--trace", "trace.json", "--", "ninja"]

    def build(self, way: str) -> None:
        for name in self.objects:
            with contextlib.suppress(FileNotFoundError):
                (self.build_folder / name).unlink()
        summary = self.build_folder / "summary.json"
        summary.unlink(missing_ok=True)
        if way in ("true", "first"):
            (self.scratch / way).unlink(missing_ok=True)
        if way == "half":
            lines = (self.scratch / "first").read_text().splitlines(keepends=True)
            (self.scratch / "half").write_text("".join(lines[:1] + lines[1::2]))
        limit = ENOUGH_MIB * MIB if way == "true" else self.limit
        if way == "oracle":  # which must not learn
            (self.scratch / "oracle").write_bytes((self.scratch / "true").read_bytes())
        history = GOVERNED.get(way)
        jobs = self.options.cores if way == "fail" else way[1:]
        command = self.governed(history) if history else ["ninja", f"-j{jobs}"]
        row = {"way": way} | self.run_in_group([*command, "-k0"] if way == "true" else command, limit)
        if way == "true" and (broken := self.left()):
            row["left_out_objects"] = broken
            self.objects = [name for name in self.objects if name not in broken]
        if way == "fail" and not row["survived"]:
            row |= {"died_after_s": row["wall_s"], "died_with_objects": len(self.objects) - len(self.left())}
            rest = self.run_in_group(["ninja", "-j1"], limit)
            for name in ("wall_s", "cpu_s", "kernel_oom_kills", "failed_edges"):
                row[name] = round(row[name] + rest[name], 1)
            row["rest_survived"] = rest["survived"]
        if summary.exists():
            totals = json.loads(summary.read_text())
            row |= {name: totals[name] for name in ("compiles", "known", "killed", "oom_kills", "stopped", "failed",
                                                  "prediction_error_median", "worst")}
            row["high_water_part"] = round(totals["high_water_bytes"] / limit, 3)
        if way == "true":
            self.take_bound(row["cpu_s"])
        if self.bound:
            row["ratio"] = round(row["wall_s"] / self.bound, 3)
        self.note(row)

    def take_bound(self, cpu_s: float) -> None:
        trace = json.loads((self.build_folder / "trace.json").read_text())["traceEvents"]
        tries = [(one["dur"] / 1e6, one["args"]["peak_mib"]) for one in trace if one.get("cat") == "ok"]
        self.compile_s = sum(seconds for seconds, _ in tries)
        if not self.limit:
            self.limit = int(ROOM_FOR_LARGEST * max(mib for _, mib in tries)) * MIB
        self.bound = max(cpu_s / self.options.cores, sum(s * mib for s, mib in tries) * MIB / self.limit)

    def note(self, row: dict) -> None:
        print(json.dumps(row), flush=True)
        self.results.append(row)
        if self.options.json:
            state = {name: getattr(self.options, name) for name in ("count", "cores", "opt", "seed")}
            state |= {"limit_mib": self.limit // MIB, "bound_s": self.bound, "compile_s": self.compile_s}
            state |= {"objects": self.objects, "rows": self.results}
            self.options.json.write_text(json.dumps(state, indent=1) + "\n")

    def resume(self) -> None:
        """Takes over what an earlier run measured; what it left out is tried again."""
        state = json.loads(self.options.json.read_text())
        if any(state[name] != getattr(self.options, name) for name in ("count", "cores", "opt", "seed")):
            raise SystemExit(f"{self.options.json}: measured with another --count, --cores, --opt or --seed")
        self.results = [row for row in state["rows"] if "wall_s" in row]
        self.limit, self.bound, self.compile_s, self.objects = state["limit_mib"] * MIB, state["bound_s"], state["compile_s"], state["objects"]

    def expected_s(self, way: str) -> float:
        """As seen in simulations and with made-up compiles; the first way's own time is not known before it has run."""
        if not self.bound:
            return 0
        times = {"true": 1.1, "oracle": 1.15, "first": 1.6, "history": 1.2, "half": 1.4}
        return times[way] * self.bound if way in times else 1.1 * self.compile_s

    def run(self) -> None:
        begun = time.monotonic()
        for way in self.options.ways.split(","):
            if any(row["way"] == way for row in self.results):
                continue
            spent, expected = time.monotonic() - begun, self.expected_s(way)
            if self.options.budget_minutes and spent + expected > self.options.budget_minutes * 60:
                self.note({"way": way, "left_out": f"takes about {expected / 60:.1f} min, and "
                                                   f"{self.options.budget_minutes - spent / 60:.1f} min are left"})
                continue
            if way in ("history", "half") and not any(row["way"] == "first" and "wall_s" in row for row in self.results):
                self.note({"way": way, "left_out": "there was no first build to learn from"})
                continue
            if expected:
                print(f"{way}: about {expected / 60:.1f} min", file=sys.stderr, flush=True)
            self.build(way)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--memory-mib", type=int, default=0)
    parser.add_argument("--ways", default="true,oracle,first,history,j1,fail,half")
    parser.add_argument("--opt", default="")
    parser.add_argument("--prepare-only", action="store_true")
    parser.add_argument("--budget-minutes", type=float)
    parser.add_argument("--profile", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--resume", action="store_true")
    options = results.parse_arguments(parser)
    if options.resume and not options.json:
        parser.error("--resume goes on with what --json FILE has")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # cgroups and processes are removed whatever ends us
    bench = Bench(options)
    if not (bench.scratch / "root").exists():
        fetch(bench.scratch)
    bench.configure(unpack(bench.scratch))
    bench.objects = bench.choose()
    bench.generate()
    if options.prepare_only:
        print(f"{len(bench.objects)} of the compiles are chosen, what they need is generated:", *bench.objects, sep="\n  ")
        return
    if options.resume:
        bench.resume()
    elif not options.memory_mib and not options.ways.startswith("true"):
        raise SystemExit("--memory-mib is needed where `true` is not the first way")
    bench.run()
    limit = f"{len(bench.objects)} compiles of PyTorch {VERSION}, {bench.limit // MIB} MiB"
    walls = {row["way"]: row["wall_s"] for row in bench.results if "wall_s" in row}
    bound = "bound" if bench.bound else ""  # unknown without `true`
    rows = [results.row(LABELS[way], "s of wall", "lower", walls[way], bound, bench.bound) for way in GOVERNED if way in walls]
    if "history" in walls:
        rows += [results.row(LABELS["history"], "s of wall", "lower", walls["history"], LABELS.get(way, f"ninja -{way}"), wall)
                 for way, wall in walls.items() if way not in GOVERNED]
    results.record(options, "governor-pytorch", limit, rows)


if __name__ == "__main__":
    main()
