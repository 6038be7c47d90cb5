"""A farm as a visitor may find it: wheels of two sites, builds that run, wait and have failed. For tests of the pages in a browser and
for their pictures in the documents.

    farm = Farm(SAMPLE_INDEXES, settings=SAMPLE_SETTINGS, index_settings=SAMPLE_TITLES)
    farm.start()
    fill(farm, folder)
"""

import datetime
import json
import subprocess
import time
import urllib.request
from pathlib import Path

from support.clients import RawUpload
from support.farm import Farm
from support.wheels import Wheel

SAMPLE_INDEXES = ("bede-gh200", "archer2")
SAMPLE_SETTINGS = ""
SAMPLE_TITLES = {"bede-gh200": 'title = "Grace Hopper nodes of Bede"', "archer2": 'title = "AMD EPYC nodes of ARCHER2"'}
PATIENCE_S = 240
# Of a build: many small compiles, some large ones, never above its limit.
MEMORY_MIB = [min(121000, 9000 + 2400 * step + (37000 if step % 9 in (4, 5) else 0) - (6000 if step % 7 == 2 else 0)) for step in range(40)]
# How its users' jobs begin.
JOB = ["#SBATCH --job-name=wheel", "#SBATCH --nodes=1", "#SBATCH --time=30", "#SBATCH --partition=gh", "#SBATCH --account=ACCOUNT", "#SBATCH --export=NONE"]
YANKED_BECAUSE = "gives wrong results on several nodes"
# A finding that is a warning.
SHIPPED_TWICE = {("torch", "2.5.1"): {"torch/include/ATen/Half.h": b"", "torch/include/ATen/half.h": b""}}
GPU_OBJECTS = Path(__file__).resolve().parents[2] / "support" / "gpu_objects"

SUMMARIES = {
    "torch": "Tensors and dynamic neural networks with strong GPU acceleration",
    "torchvision": "Image and video datasets and models for torch",
    "horovod": "Distributed training for TensorFlow, Keras, PyTorch and MXNet",
    "mpi4py": "Python bindings for MPI",
    "numpy": "Fundamental package for array computing in Python",
    "h5py": "Read and write HDF5 files from Python",
    "flash-attn": "Fast and memory-efficient exact attention",
    "cupy": "NumPy and SciPy for GPUs",
    "petsc4py": "Portable, extensible toolkit for scientific computation",
    "dask": "Parallel collections of arrays and data frames",
    "pyyaml": "YAML parser and emitter",
    "tqdm": "Fast, extensible progress meter",
}

TORCH_TEXT = """[![tests](https://ci.example.org/torch/badge.svg)](https://ci.example.org/torch)

# PyTorch at this site

##### Built here

Built **from source** with CUDA 12.3 and the site's Open MPI, so that `torch.distributed` runs on many nodes.

```python
import torch
torch.distributed.init_process_group("mpi")
```

## Parts

| part | version |
|---|---|
| CUDA | 12.3.2 |
| cuDNN | 9.1 |
| Open MPI | 4.1.6 |

## Install

[For many nodes](#on-many-nodes) the MPI is the site's.

1. Load the modules that the wheel names.
2. Install the wheel in an environment of your own.

## On many nodes

Start one process for each GPU.
"""


def moment(minutes_ago: float = 0) -> str:
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=minutes_ago)
    return then.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def shared_object(folder: Path, compiler: str, gpu_code: Path | None, needed: tuple[str, ...]) -> bytes:
    """An extension module with the given device code that needs the given libraries."""
    folder.mkdir(parents=True, exist_ok=True)
    stubs = []
    for soname in needed:
        stub = folder / f"lib{len(stubs)}.so"
        (folder / "stub.c").write_text(f"void stub{len(stubs)}(void) {{}}\n")
        subprocess.run([compiler, "-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{soname}", "-o", stub, folder / "stub.c"], check=True)
        stubs.append(stub)
    source = "".join(f"void stub{at}(void);\n" for at in range(len(stubs)))
    source += "void *PyInit__C(void) {" + "".join(f"stub{at}();" for at in range(len(stubs))) + "return 0; }\n"
    if gpu_code:
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin", "--set-section-flags", ".nv_fatbin=alloc", gpu_code,
                        folder / "fatbin"], check=True)
        source += f'__asm__(".section .nv_fatbin,\\"a\\"\\n.p2align 3\\n.incbin \\"{folder}/fatbin\\"\\n.text");\n'
    (folder / "module.c").write_text(source)
    module = folder / "_C.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-nostdlib", "-o", module, folder / "module.c", *stubs], check=True)
    return module.read_bytes()


def wheels(folder: Path) -> dict[str, list[Wheel]]:
    """The wheels of each index."""
    arm = "aarch64-linux-gnu-gcc"
    torch = shared_object(folder / "torch", arm, GPU_OBJECTS / "cuda-speed.so", ("libcudart.so.12", "libcublas.so.12", "libmpi.so.40", "libc.so.6"))
    cupy = shared_object(folder / "cupy", arm, GPU_OBJECTS / "cuda-size.so", ("libcudart.so.12", "libc.so.6"))
    mpi = shared_object(folder / "mpi", arm, None, ("libmpi.so.40", "libc.so.6"))
    plain = shared_object(folder / "plain", arm, None, ("libc.so.6",))
    epyc = shared_object(folder / "epyc", "gcc", None, ("libmpi_gnu_123.so.12", "libc.so.6"))

    def lines(name: str, *more: str) -> tuple[str, ...]:
        return ("License: BSD-3-Clause", "Keywords: hpc," + name, f"Project-URL: Documentation, https://{name}.example.org/",
                f"Project-URL: Source, https://code.example.org/{name}") + more

    def binary(name: str, version: str, python: str, machine: str, module: bytes, *more: str) -> Wheel:
        tag = f"{python}-{python}-linux_{machine}"
        return Wheel(name, version, tags=(tag,), extra_members={f"{name.replace('-', '_')}/_C.so": module} | SHIPPED_TWICE.get((name, version), {}),
                     metadata_lines=lines(name, *more), summary=SUMMARIES[name], description=TORCH_TEXT if name == "torch" else "")

    def pure(name: str, version: str) -> Wheel:
        return Wheel(name, version, metadata_lines=lines(name), summary=SUMMARIES[name])

    markdown = "Description-Content-Type: text/markdown"
    needs = tuple(f"Requires-Dist: {text}" for text in ("filelock", "typing-extensions>=4.8", "sympy", "networkx", "jinja2"))
    bede = [binary("torch", version, python, "aarch64", torch, markdown, *needs[:4 if version == "2.3.1" else None])
            for version in ("2.3.1", "2.4.0", "2.5.1") for python in ("cp311", "cp312")]
    bede += [binary("torchvision", "0.20.1", "cp312", "aarch64", cupy, "Requires-Dist: torch==2.5.1"),
             binary("flash-attn", "2.6.3", "cp312", "aarch64", cupy, "Requires-Dist: torch<2.5,>=2.4"),
             binary("cupy", "13.3.0", "cp312", "aarch64", cupy, "Requires-Dist: numpy>=2.2"), binary("mpi4py", "4.0.1", "cp312", "aarch64", mpi),
             binary("h5py", "3.12.1", "cp312", "aarch64", mpi, "Requires-Dist: numpy>=1.19"),
             binary("numpy", "2.1.3", "cp312", "aarch64", plain), pure("tqdm", "4.67.0"), pure("dask", "2026.10.0")]
    archer = [binary("mpi4py", "4.0.1", "cp311", "x86_64", epyc), binary("petsc4py", "3.22.1", "cp311", "x86_64", epyc),
              binary("h5py", "3.12.1", "cp311", "x86_64", epyc), pure("pyyaml", "6.0.2")]
    return {"bede-gh200": bede, "archer2": archer}


def reports() -> dict[str, dict]:
    """What the agents of the two sites report."""
    def cell(package, version, python, state, accelerator="gh200", reason="", **more):
        return {"package": package, "version": version, "python": python, "accelerator": accelerator, "state": state, "reason": reason} | more

    def of(package, version, python="3.12", accelerator="gh200"):
        return {"package": package, "version": version, "python": python, "accelerator": accelerator}

    bede = {
        "format": "wheelyard.site/1", "site": "bede", "index": "bede-gh200", "program": "wheelyard-builder 0.1.0", "time": moment(2),
        "next_tick": moment(-3), "pythons": ["3.11", "3.12", "3.13"],
        "nodes": [{"name": "gh", "cores": 72, "memory_mib": 490000, "gpus": 1, "accelerator": "gh200", "architectures": ["sm_90"], "job": JOB},
                  {"name": "gpu", "cores": 40, "memory_mib": 512000, "gpus": 4, "accelerator": "v100", "architectures": ["sm_70"]}],
        "submit": "sbatch", "setups": [{"python": python, "accelerator": "gh200", "program": "python3", "lines": [
            f"module load gcc/12.2 cuda/12.3 openmpi/4.1 python/{python}"]} for python in ("3.11", "3.12", "3.13")],
        "cells": [cell("torch", version, python, "have") for version in ("2.3.1", "2.4.0", "2.5.1") for python in ("3.11", "3.12")] + [
            cell("torch", "2.6.0", "3.12", "active", attempt="w1kq7x9aab3cde"),
            cell("torch", "2.6.0", "3.11", "wanted", reason="waits for a free job"),
            cell("torch", "2.6.0", "3.13", "wanted", reason="waits for a free job"),
            cell("torch", "2.5.1", "3.13", "given up", reason="no space left on the scratch disk", attempt="w1kq7x9aab3fff"),
            cell("torch", "2.3.1", "3.13", "excluded", reason="this version has no support for Python 3.13"),
            cell("flash-attn", "2.7.0", "3.12", "wanted", reason="waits for torch 2.6.0"),
            cell("horovod", "0.28.1", "3.12", "given up", reason="the compiler was killed for lack of memory", attempt="w1kq7x9aab3aaa")],
        "attempts": [
            of("torch", "2.6.0") | {"id": "w1kq7x9aab3cde", "state": "running", "phase": "build", "done": 4312, "total": 7291, "began": moment(96),
                                    "memory_limit_mib": 128000, "phases": ["unpack", "build"], "phase_seconds": [41, 5719],
                                    "memory_mib": MEMORY_MIB, "log_tail": [
                                        "[4308/7291] Building CXX object caffe2/CMakeFiles/torch_cpu.dir/aten/src/ATen/Operators_0.cpp.o",
                                        "[4309/7291] Building CXX object caffe2/CMakeFiles/torch_cpu.dir/aten/src/ATen/Operators_1.cpp.o",
                                        "[4310/7291] Building CXX object caffe2/CMakeFiles/torch_cpu.dir/aten/src/ATen/RegisterCPU.cpp.o",
                                        "[4311/7291] Building CUDA object caffe2/CMakeFiles/torch_cuda.dir/native/cuda/Sort.cu.o",
                                        "[4312/7291] Building CUDA object caffe2/CMakeFiles/torch_cuda.dir/native/cuda/Unique.cu.o"]}],
        "finished": [of("torch", version) | {"attempt": f"w1kq7x9aab3f{at}", "began": moment(end + minutes), "ended": moment(end)}
                     for at, (version, end, minutes) in enumerate((("2.5.1", 3000, 90), ("2.4.0", 9000, 80), ("2.3.1", 20000, 110)))],
        "failures": [
            of("horovod", "0.28.1") | {"attempt": "w1kq7x9aab3aaa", "began": moment(231), "ended": moment(180), "phase": "build", "rule": "compiler.killed",
                                       "cause": "c++: fatal error: Killed signal terminated program cc1plus",
                                       "remedy": "Raise `memory_mib` of the recipe to 96000, or lower its jobs to 4; then: "
                                                 "wheelyard-builder retry horovod-0.28.1-cp312-gh200 --site site.toml",
                                                 "log_tail": ["[211/248] Building CXX object horovod/common/operations.cc.o",
                                                              "c++: fatal error: Killed signal terminated program cc1plus",
                                                              "ninja: build stopped: subcommand failed."]},
            of("torch", "2.5.1", "3.13") | {"attempt": "w1kq7x9aab3fff", "ended": moment(700), "phase": "sources", "rule": "disk.full",
                                            "cause": "fatal: write error: No space left on device",
                                            "remedy": "Free space below /nobackup, or set work.directory to another file system; then: "
                                                      "wheelyard-builder retry torch-2.5.1-cp313-gh200 --site site.toml"}]}
    archer = {
        "format": "wheelyard.site/1", "site": "archer2", "index": "archer2", "program": "wheelyard-builder 0.1.0", "time": moment(200),
        "next_tick": moment(195), "pythons": ["3.11"], "nodes": [{"name": "standard", "cores": 128, "memory_mib": 256000}],
        "cells": [cell(name, version, "3.11", "have", accelerator="") for name, version in
                  (("mpi4py", "4.0.1"), ("petsc4py", "3.22.1"), ("h5py", "3.12.1"))] + [
                      cell("pyyaml", "6.0.2", f"3.{minor}", "have", accelerator=f"zen{zen}") for minor in range(9, 14) for zen in range(1, 9)],
        "attempts": [], "failures": []}
    return {"bede": bede, "archer2": archer}


def report_sites(farm: Farm, token: str, documents: dict[str, dict]) -> None:
    for site, document in documents.items():
        request = urllib.request.Request(f"{farm.url}/api/v1/indexes/{document['index']}/sites/{site}", data=json.dumps(document).encode(),
                                         method="PUT", headers={"Authorization": f"Bearer {token}"})
        urllib.request.urlopen(request).close()


def fill(farm: Farm, folder: Path) -> None:
    """Uploads the wheels, then reports the sites, as an operator who imports first does."""
    token = farm.create_token(name="sample", actions=("upload", "yank"))
    for index, made in wheels(folder).items():
        for wheel in made:
            status, problem = RawUpload(farm, token, wheel.write(folder / index), index).send()
            if status != 200:
                raise AssertionError(f"{wheel.filename}: {status} {problem}")
    yanked = Wheel("torch", "2.3.1", tags=("cp311-cp311-linux_aarch64",)).filename
    request = urllib.request.Request(f"{farm.url}/api/v1/indexes/bede-gh200/files/{yanked}/yank",
                                     data=json.dumps({"format": "wheelyard.change/1", "reason": YANKED_BECAUSE}).encode(),
                                     headers={"Authorization": f"Bearer {token}"})
    urllib.request.urlopen(request).close()
    wait_for(farm, YANKED_BECAUSE)
    report_sites(farm, token, reports())


def wait_for_pages(farm: Farm) -> None:
    """A server writes the pages a moment after the change."""
    wait_for(farm, YANKED_BECAUSE, ">building<", "Where it runs")


def wait_for(farm: Farm, *parts: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        page = farm.get("/bede-gh200/project/torch/")[2].decode()
        if all(part in page for part in parts):
            return
        if time.monotonic() > deadline:
            raise AssertionError(page)
        time.sleep(0.05)
