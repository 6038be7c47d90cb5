#!/usr/bin/env python3
"""What `wheelyard-registry check --with TORCH.whl` says of real companions, beside a real import and one CPU operator of each.

    bench/abi_matrix.py --registry FILE --work FOLDER [--libraries FOLDER:…] [--only TORCH] [--companion PROJECT] [--write FILE]

The wheels are those of abi_matrix/wheels.tsv, for CPython 3.11 on x86_64; `pip download` brings what WORK/wheels lacks: 5 GB in all,
and 10 GB of disk at a time. Each torch gets an environment of its own, each companion a folder beside it, without its dependencies.

No GPU is needed. The wheels of torch are those with CUDA, and torch cannot be imported without CUDA's libraries: the runtime is the
real one, of the release that torch requires; the large ones (cuBLAS, cuDNN, NCCL, …) are made here by gcc, empty functions of the same
names, since no operator of these calls one. torchcodec loads FFmpeg: --libraries has folders for LD_LIBRARY_PATH that have it.

Prints a line a pair, and at the end how often the answer was right. Exit code 1 if a "yes" fails to load or a "no" loads.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent / "abi_matrix"
PYTHON = "python3.11"
LIMIT_S = 600
# Of torch 2.15 and of what the companions import, without versions: they are not what is tried.
BESIDE = ["typing_extensions", "sympy", "networkx", "jinja2", "fsspec", "filelock", "numpy<2.3", "pillow", "packaging", "setuptools<81"]

LOAD = """
def load(project, *patterns):
    import importlib.util, pathlib
    folder = pathlib.Path(importlib.util.find_spec(project).origin).parent
    found = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    assert found, "no library"
    for path in found:
        torch.ops.load_library(str(path))
"""
# Each ends without an exception if the companion's own compiled code runs. xformers and torchao have no operator for CPUs in their
# libraries: those are loaded, and an operator of torch is called.
PROBES = {
    "torchvision": "import torchvision\n"
                   "kept = torchvision.ops.nms(torch.tensor([[0., 0, 9, 9], [0, 0, 9, 9]]), torch.tensor([.9, .8]), .5)\n"
                   "assert kept.tolist() == [0]",
    "torchaudio": "import torchaudio\n"
                  "scores = torch.log_softmax(torch.rand(1, 6, 4), -1)\n"
                  "path, _ = torchaudio.functional.forced_align(scores, torch.tensor([[1, 2]], dtype=torch.int32), blank=0)\n"
                  "assert path.shape == (1, 6)",
    "xformers": "load('xformers', '_C*.so')\nimport xformers.ops\nassert torch.ones(2).sum() == 2",
    "torchao": "load('torchao', '_C*.so')\nimport torchao\nassert torch.ones(2).sum() == 2",
    "torchcodec": "from torchcodec.decoders import VideoDecoder\n"
                  "try:\n"
                  "    VideoDecoder(b'no video' * 999)\n"
                  "except Exception as error:  # of FFmpeg, which the operator called\n"
                  "    assert 'nvalid data' in str(error), error",
}


def run(argv: list, **more) -> subprocess.CompletedProcess:
    try:
        return subprocess.run([str(word) for word in argv], capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, 124, "", "no end")


def must(argv: list, **more) -> str:
    done = run(argv, **more)
    if done.returncode != 0:
        sys.exit(f"{argv}: {done.stderr[-2000:]}")
    return done.stdout


def read_list() -> list[list[str]]:
    return [line.split("\t") for line in (HERE / "wheels.tsv").read_text().splitlines() if not line.startswith("#")]


def wheel_of(wheels: Path, name: str, version: str) -> Path:
    def found() -> list[Path]:
        return [path for path in wheels.glob("*.whl") if path.name.lower().startswith(f"{name}-{version}-")]
    if not found():
        must([PYTHON, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir", "--only-binary", ":all:", "-d", wheels, f"{name}=={version}"])
    return found()[0]


def runtime_requirement(torch: Path) -> str:
    """The package of CUDA's runtime that this torch requires."""
    with zipfile.ZipFile(torch) as archive:
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))).decode()
    if own := re.search(r"Requires-Dist: (nvidia-cuda-runtime-cu\d+) ?\(?==([\d.]+)", metadata):
        return f"{own[1]}=={own[2]}"
    toolkit = re.search(r"Requires-Dist: cuda-toolkit\[.*\]==([\d.]+)", metadata)[1]
    return f"cuda-toolkit[cudart]=={toolkit}"


def write_stubs(libraries: list[Path], folder: Path) -> None:
    """Libraries of the names, versions and symbols that torch's libraries need and nothing has."""
    folder.mkdir()
    undefined, defined, needed, file_of = set(), set(), set(), {}
    for library in libraries:
        dynamic = must(["readelf", "-dVW", library])
        needed |= set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
        for part in re.split(r"Version: 1\s+File: ", dynamic)[1:]:
            file = part.split()[0]
            file_of |= {name: file for name in re.findall(r"Name: (\S+)\s+Flags", part.split("Version definition")[0])}
        for line in must(["nm", "-D", library]).splitlines():
            words = line.split()
            (undefined if words[-2] == "U" else defined).add(words[-1])
    defined |= {name.split("@")[0] for name in defined}
    here = {library.name for library in libraries}
    has_it = set(re.findall(r"^\s+(\S+) \(", must(["/sbin/ldconfig", "-p"]), re.MULTILINE))
    wanted = sorted(name for name in needed - here - has_it if not re.match(r"libcudart\.so|libpython", name))
    of_library = defaultdict(lambda: defaultdict(set))
    for symbol in undefined - defined:
        name, _, version = symbol.partition("@")
        file = file_of.get(version.lstrip("@"), "")
        if version and file not in wanted or name.startswith(("Py", "_Py", "_Z", "__cuda", "__cxa", "__gmon", "_ITM")):
            continue
        if not version and (not name.startswith(("cu", "nccl", "nv")) or name.startswith("cuda") or not wanted):
            continue  # crc32 and others come from the system's libraries
        of_library[file if version else wanted[0]][version.lstrip("@")].add(name)
    for library in wanted:
        source, script = folder / "stub.c", folder / "stub.map"
        names = {name for group in of_library[library].values() for name in group}
        source.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in sorted(names)) or "int empty;\n")
        versions = {version: group for version, group in of_library[library].items() if version}
        versions |= {name: set() for name, file in file_of.items() if file == library and name not in versions}
        script.write_text("".join(f"{version} {{ global: {''.join(f'{name}; ' for name in sorted(group))} }};\n" for version, group in versions.items()))
        must(["gcc", "-w", "-fno-builtin", "-shared", "-fPIC", "-nostdlib", source, "-o", folder / library, f"-Wl,-soname,{library}",
              *([f"-Wl,--version-script={script}"] if versions else [])])


def make_environment(torch: Path, folder: Path) -> dict[str, str]:
    must([PYTHON, "-m", "venv", folder])
    pip = folder / "bin" / "pip"
    must([pip, "install", "-q", "--no-cache-dir", *BESIDE, runtime_requirement(torch)])
    must([pip, "install", "-q", "--no-cache-dir", "--no-deps", "--no-compile", torch])
    site = next((folder / "lib").glob("python3*")) / "site-packages"
    libraries = [*(site / "torch" / "lib").glob("*.so*"), *site.glob("torch/_C*.so"), *site.glob("torch.libs/*.so*")]
    write_stubs(libraries, folder / "stubs")
    cuda = sorted({str(path.parent) for path in (site / "nvidia").rglob("libcudart.so*")})
    return {"LD_LIBRARY_PATH": ":".join([str(folder / "stubs"), *cuda])}


def loads(python: Path, target: Path, name: str, environment: dict[str, str]) -> tuple[bool, str]:
    text = "import torch\n" + LOAD + PROBES[name]
    done = run([python, "-W", "ignore", "-c", text], env={"PATH": os.environ["PATH"], "HOME": str(target), "PYTHONPATH": str(target)} | environment,
               cwd=target)
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    undefined = [line for line in lines if "undefined symbol" in line]
    absent = [line for line in lines if "cannot open shared object" in line]
    said = (undefined or absent or lines or [f"status {done.returncode}"])[-1]
    return done.returncode == 0, "" if done.returncode == 0 else re.sub(r"\S*/site-packages/|" + re.escape(str(target)) + "/", "", said)[:240]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--registry", required=True, help="the program wheelyard-registry")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--libraries", default="", help="folders for LD_LIBRARY_PATH that have FFmpeg's libraries")
    parser.add_argument("--only", action="append", help="this version of torch; may be given again")
    parser.add_argument("--companion", action="append", help="this project only; may be given again")
    parser.add_argument("--write", type=Path, help="the answers, a line a pair")
    options = parser.parse_args()
    work = options.work.resolve()
    wheels = work / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    companions = [(name, version, wheel_of(wheels, name, version)) for name, version, _ in read_list()
                  if name != "torch" and name in (options.companion or [name])]
    for name, version, wheel in companions:
        target = work / "companions" / f"{name}-{version}"
        if not target.is_dir():
            must([PYTHON, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--no-cache-dir", "--target", target, wheel])
    counts, rows = defaultdict(int), []
    for version in [version for name, version, _ in read_list() if name == "torch" and version in (options.only or [version])]:
        torch = wheel_of(wheels, "torch", version)
        judged = run([options.registry, "check", "--json", "--with", torch, *[wheel for _, _, wheel in companions]])
        answers = {one["filename"]: one["with"] for one in json.loads(judged.stdout)["wheels"]}
        folder = work / "environment"
        shutil.rmtree(folder, ignore_errors=True)
        environment = make_environment(torch, folder)
        environment["LD_LIBRARY_PATH"] += ":" + options.libraries
        alone = run([folder / "bin" / "python", "-c", "import torch; assert torch.ones(2).sum() == 2"], env=environment)
        if alone.returncode != 0:
            sys.exit(f"torch {version} cannot be imported by itself: {alone.stderr[-2000:]}")
        for name, own, wheel in companions:
            ok, said = loads(folder / "bin" / "python", work / "companions" / f"{name}-{own}", name, environment)
            answer = answers[wheel.name]
            kind = f"{answer['fits']}, {'loads' if ok else 'fails'}"
            counts[kind] += 1
            rows.append("\t".join([version, f"{name} {own}", answer["fits"], "loads" if ok else "fails", answer["sentence"], said or "-"]))
            print(("      " if kind in ("yes, loads", "no, fails") else "MISS  ") + rows[-1], flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    if options.write:
        options.write.write_text("# torch\tcompanion\tanswer\tin truth\tits reason\twhat Python said\n" + "\n".join(rows) + "\n")
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    return 1 if counts["yes, fails"] or counts["no, loads"] else 0


if __name__ == "__main__":
    sys.exit(main())
