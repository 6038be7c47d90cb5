#!/usr/bin/env python3
"""How near the bound does the governor come on real compiles, of PyTorch 1.13.1?

  bench/governor_pytorch.py --bin build/release/bin --scratch DIR [--count 200] [--memory-mib 2600] [--cores 2]
                            [--ways true,oracle,first,history,half,j2,j1] [--json FILE]

In DIR (kept, so that a second run is quick) it fetches Debian's source package pytorch (the original tarball is enough)
and the -dev packages that stand in for its third_party, unpacks both there without installing anything, configures for
the CPU with CMake under the governor, makes the generated sources, and draws `count` of the compiles, the largest of
--profile (data of an earlier run: source,cpu_s,max_rss_kib) among them. Each way builds exactly these from nothing, as
root in a memory cgroup of that size where one can be made. Prints wall time over the bound max(Σ CPU time / cores,
Σ time × peak / limit) of the first way, which has memory enough and learns the true peaks for the oracle.
"""

import argparse
import contextlib
import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "system"))
from support.governed import MIB, kernel_kills, memory_group  # the same cgroups as the tests make

VERSION = "1.13.1"
PACKAGES = """libsleef-dev libxnnpack-dev libonnx-dev libflatbuffers-dev libbenchmark-dev libprotobuf-dev
protobuf-compiler libcpuinfo-dev libpsimd-dev libfp16-dev libfxdiv-dev libpthreadpool-dev libgoogle-glog-dev
libgflags-dev libeigen3-dev pybind11-dev libnuma-dev libfmt-dev""".split()
SUITE = "bookworm"
OFF = """USE_CUDA USE_ROCM USE_DISTRIBUTED USE_MKLDNN USE_FBGEMM USE_KINETO USE_NNPACK USE_QNNPACK USE_PYTORCH_QNNPACK
USE_FFTW USE_MKL USE_ITT BUILD_TEST BUILD_CAFFE2 BUILD_CAFFE2_OPS USE_BREAKPAD USE_TENSORPIPE USE_GLOO USE_NCCL USE_MPI
USE_OPENCV USE_FFMPEG USE_LEVELDB USE_LMDB USE_REDIS USE_ROCKSDB BUILD_FUNCTORCH BUILD_PYTHON USE_NUMPY USE_MAGMA USE_XNNPACK""".split()
ON = "USE_SYSTEM_LIBS USE_OPENMP".split()


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
        self.governor = (options.bin / "wheelyard-governor").resolve()
        self.build_folder = self.scratch / "build"
        root = self.scratch / "root" / "usr"
        library = root / "lib" / "x86_64-linux-gnu"
        self.environment = os.environ | {
            "XDG_CACHE_HOME": str(self.scratch / "cache"), "CCACHE_DISABLE": "1", "CMAKE_PREFIX_PATH": str(root),
            "CPATH": f"{root}/include:{root}/include/x86_64-linux-gnu:{root}/include/eigen3",
            "LIBRARY_PATH": str(library), "LD_LIBRARY_PATH": str(library), "PATH": f"{root}/bin:{os.environ['PATH']}"}
        self.limit = options.memory_mib * MIB
        self.bound = 0.0

    def configure(self, source: Path) -> None:
        if (self.build_folder / "build.ninja").exists():
            return
        flags = [f"-D{name}=OFF" for name in OFF] + [f"-D{name}=ON" for name in ON]
        run([self.governor, "--quiet", "--no-history", "--", "cmake", "-G", "Ninja", "-S", source, "-B", self.build_folder,
             "-DCMAKE_BUILD_TYPE=Release", "-DBLAS=Eigen", "-DCMAKE_CXX_FLAGS=-w", f"-DPYTHON_EXECUTABLE={sys.executable}", *flags], env=self.environment)

    def choose(self) -> list[str]:
        """Objects: the largest that --profile knows, the rest drawn at random, heaviest last as PyTorch has them."""
        graph = run(["ninja", "-t", "targets", "all"], cwd=self.build_folder, stdout=subprocess.PIPE, text=True).stdout
        objects = [line.split(":")[0] for line in graph.splitlines() if re.search(r"\.cpp\.o: CXX_COMPILER", line)]
        area = {}
        if self.options.profile:
            with self.options.profile.open() as file:
                area = {row["source"]: float(row["cpu_s"]) * float(row["max_rss_kib"]) for row in csv.DictReader(file)}
        weight = {name: max((value for source, value in area.items() if source in name), default=0) for name in objects}
        heavy = sorted((name for name in objects if weight[name]), key=weight.get)[-self.options.count // 5:]
        rest = [name for name in objects if name not in heavy]
        random.Random(self.options.seed).shuffle(rest)
        return rest[:self.options.count - len(heavy)] + heavy

    def build(self, way: str, objects: list[str], command: list, limit: int) -> None:
        for name in objects:
            with contextlib.suppress(FileNotFoundError):
                (self.build_folder / name).unlink()
        summary = self.build_folder / "summary.json"
        summary.unlink(missing_ok=True)
        with memory_group(limit) as group:
            enter = f"echo $$ > {group}/cgroup.procs && " if group else ""
            begun, kills, before = time.monotonic(), kernel_kills(), os.times()
            done = subprocess.run(["sh", "-c", f'{enter}exec "$@"', "sh", *map(str, command), *objects],
                                  cwd=self.build_folder, env=self.environment, capture_output=True, text=True)
            now = os.times()
        wall = time.monotonic() - begun
        cpu = now.children_user + now.children_system - before.children_user - before.children_system
        row = {"way": way, "wall_s": round(wall, 1), "cpu_s": round(cpu, 1), "survived": done.returncode == 0,
               "kernel_oom_kills": kernel_kills() - kills}
        if summary.exists():
            told = json.loads(summary.read_text())
            row |= {name: told[name] for name in ("killed", "oom_kills", "failed", "prediction_error_median")}
            row["high_water_part"] = round(told["high_water_bytes"] / limit, 3)
        if way == "true":
            trace = json.loads((self.build_folder / "trace.json").read_text())["traceEvents"]
            tries = [(one["dur"] / 1e6, one["args"]["peak_mib"]) for one in trace if one.get("cat") == "ok"]
            self.bound = max(cpu / self.options.cores, sum(s * mib for s, mib in tries) / self.options.memory_mib)
        if self.bound:
            row["ratio"] = round(wall / self.bound, 3)
        if done.returncode != 0:
            row["last_words"] = (done.stdout + done.stderr)[-400:]
        print(json.dumps(row), flush=True)
        self.results.append(row)

    def run(self) -> None:
        self.results: list[dict] = []
        objects = self.choose()
        # What compiles need generated comes first, outside of the measurement.
        order = run(["ninja", "-t", "query", objects[0]], cwd=self.build_folder, stdout=subprocess.PIPE, text=True).stdout
        needed = [line.split()[-1] for line in order.splitlines() if line.strip().startswith("|| ")]
        if needed:
            run([self.governor, "--quiet", "--no-history", "--", "ninja", *needed], cwd=self.build_folder,
                env=self.environment, stdout=subprocess.DEVNULL)

        def governed(history: str) -> list:
            return [self.governor, "--cores", self.options.cores, "--history", self.scratch / history, "--progress", "60",
                    "--json", "summary.json", "--trace", "trace.json", "--", "ninja"]

        for way in self.options.ways.split(","):
            if way == "half":
                lines = (self.scratch / "first").read_text().splitlines(keepends=True)
                (self.scratch / "half").write_text("".join(lines[:1] + lines[1::2]))
            if way in ("true", "first"):
                (self.scratch / way).unlink(missing_ok=True)
            history = {"true": "true", "oracle": "true", "first": "first", "history": "first", "half": "half"}.get(way)
            command = governed(history) if history else ["ninja", f"-{way}"]
            self.build(way, objects, command, 16 * self.limit if way == "true" else self.limit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--memory-mib", type=int, default=2600)
    parser.add_argument("--ways", default="true,oracle,first,history,half,j2,j1")
    parser.add_argument("--profile", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # cgroups and processes are removed whatever ends us
    bench = Bench(options)
    if not (bench.scratch / "root").exists():
        fetch(bench.scratch)
    bench.configure(unpack(bench.scratch))
    bench.run()
    if options.json:
        options.json.write_text(json.dumps({"bound_s": bench.bound, "rows": bench.results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
