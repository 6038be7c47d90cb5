#!/usr/bin/env python3
"""`ctest -R docs-pairs`: scripts/check-pairs, on file names and metadata of releases that data/ has as the public index served them."""

import io
import json
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check-pairs"
DATA = Path(__file__).resolve().parent / "data"
# Of torch 2.13 the rows say CUDA 12 alone, which is not so.
TABLE = """
pair = [
    { package = "torchvision", versions = "==0.20.1", with = "torch", allowed = "==2.5.1", use = "companion" },
    { package = "torchaudio", versions = "==2.5.1", with = "torch", allowed = "==2.5.1", use = "companion" },
    { package = "torchaudio", versions = "==2.11.0", with = "torch", allowed = ">=2.11.0", use = "companion" },
    { package = "torchmetrics", versions = "==1.0.3", with = "torch", allowed = ">=1.8.1", use = "companion" },
    { package = "horovod", versions = "==0.28.1", with = "torch", allowed = "<2.1", use = "companion" },
    { package = "flash-attn", versions = "==2.8.2", with = "torch", allowed = ">=2.2", use = "companion" },
    { package = "vllm", versions = "==0.8.0", with = "torch", allowed = "==2.6.0", use = "companion" },
    { package = "torch", versions = ">=2.5,<2.15", with = "python", allowed = ">=3.9,<3.15", use = "machine" },
    { package = "torch", versions = "==2.5.*", with = "cuda", allowed = ">=11.8,<12.5", use = "machine" },
    { package = "torch", versions = ">=2.13,<2.15", with = "cuda", allowed = ">=12.6,<13", use = "machine" },
    { package = "torch", versions = ">=2.4,<2.15", with = "cudnn", allowed = ">=9", use = "machine" },
]
"""
# The rows of CUDA 13.0 lack sm_121, and of flash-attn's sm_80.
FILES_TABLE = """
pair = [
    { package = "cuda", versions = ">=12.8,<13", with = "gpu", allowed = "sm_90 sm_100", use = "machine" },
    { package = "cuda", versions = "==12.8.*", with = "gcc", allowed = "<15", use = "machine" },
    { package = "cuda", versions = "==12.8.*", with = "clang", allowed = ">=3.3,<20", use = "machine" },
    { package = "cuda", versions = "==13.0.*", with = "gpu", allowed = "sm_90 sm_100", use = "machine" },
    { package = "cuda", versions = "==13.0.*", with = "gcc", allowed = "<15", use = "machine" },
    { package = "torch", versions = "==2.6.*", with = "extension-gpu", allowed = "sm_80 sm_90", use = "machine" },
    { package = "flash-attn", versions = "==2.8.1", with = "torch", allowed = ">=2.2", use = "companion" },
    { package = "flash-attn", versions = ">=2.8,<2.8.2", with = "gpu", allowed = "sm_80+ gfx90a", use = "machine" },
]
"""
HEADER = """#if __GNUC__ > {}
#if (__clang_major__ >= 19) || (__clang_major__ < 3)
#if (__clang_major__ >= 20) || (__clang_major__ < 3)
"""
SETUP = """    # cc_flag.append("arch=compute_75,code=sm_75")
    cc_flag.append("arch=compute_80,code=sm_80")
    cc_flag.append("arch=compute_90,code=sm_90")
    allowed_archs = ["native", "gfx90a"{}]
"""

EXTENSION = """    supported_arches = ['8.0', '9.0', '9.0a',
                        '10.0']
"""


def wheel_of(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


def sdist_of(folder, name, text):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        member = tarfile.TarInfo(f"{folder}/{name}")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()


class CheckPairsTest(unittest.TestCase):
    def check(self, table, added=None, *options):
        """The exit status and the lines. `added`: by file name the metadata of a wheel that data/ has not, or the file's bytes."""
        added = added or {}

        class Index(BaseHTTPRequestHandler):
            def do_GET(self):
                _, folder, name = self.path.split("/")[:3]
                if folder == "simple":
                    recorded = DATA / f"{name}.files"
                    names = recorded.read_text().split() if recorded.exists() else []
                    names += [one for one in added if one.startswith(name.replace("-", "_") + "-")]
                    body = json.dumps({"files": [{"filename": one, "url": "/files/" + one} for one in names]}) if names else ""
                else:
                    wheel = name.removesuffix(".metadata")
                    recorded = DATA / ("-".join(wheel.split("-")[:2]) + ".METADATA")
                    body = added.get(wheel) or (recorded.read_text() if recorded.exists() else "")
                self.send_response(200 if body else 404)
                self.end_headers()
                self.wfile.write(body.encode() if isinstance(body, str) else body)

            def log_message(self, *_):
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server, tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            file.write(table)
            file.flush()
            done = subprocess.run([sys.executable, "-B", SCRIPT, "--index", f"http://127.0.0.1:{server.server_port}/simple/", *options, file.name],
                                  capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "no_proxy": "127.0.0.1"})
            server.shutdown()
            thread.join()
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def test_demands_of_real_wheels_are_held_to_the_rows(self):
        # The page of each release at the public index; torchvision 0.29.0 is for torch 2.14.0 alone, which 0.29.2 serves too.
        cuda = "its wheel demands 13.0.3, the row of >=2.13,<2.15 allows >=12.6,<13"
        self.assertEqual(self.check(TABLE), (1, [
            "unread   vllm: HTTP Error 404: Not Found",
            f"differs  torch==2.13.0 with cuda>=13: {cuda}",
            f"differs  torch==2.14.1 with cuda>=13: {cuda}",
            "no row   torch==2.15.0 with cuda>=13",
            "no row   torch==2.15.0 with cudnn>=9",
            "no row   torch==2.15.0 with python>=3.11,<3.16",
            "no row   torchmetrics==1.9.0 with torch>=2.0.0",
            "no row   torchvision==0.28.0 with torch==2.13.0",
            "no row   torchvision==0.29.2 with torch>=2.14.0",
            "no row   triton==3.1.0 with torch==2.5.1",
            "no row   triton==3.7.1 with torch==2.13.0",
            "no row   triton==3.8.0 with torch==2.14.0",
            "no row   triton==3.8.0 with torch==2.14.1",
            "no row   triton==3.9.0 with torch==2.15.0",
            "no row   xformers==0.0.29.post1 with torch==2.5.1",
            "no row   xformers==0.0.35 with torch>=2.10",
            "newer    flash-attn==2.8.3.post2, after 2.8.2: no metadata says which torch it is for",
            "17 to look at, 26 demands read"]))

    def test_with_files_the_compilers_and_the_sources_are_held_to_the_rows(self):
        ptxas = "#!/bin/sh\ntest $1 = --help && echo \"  'sm_90','sm_90a','sm_100'\"\n"
        nvcc = "#!/bin/sh\ntest $1 = --list-gpu-code && printf 'sm_90\\nsm_100\\nsm_121\\n'\n"
        tag = "py3-none-manylinux_2_17_x86_64.whl"
        added = {f"nvidia_cuda_nvcc_cu12-12.8.61-{tag}": b"older than another of its release",
                 f"nvidia_cuda_nvcc_cu12-12.8.93-{tag}": wheel_of({"nvidia/cuda_nvcc/bin/ptxas": ptxas,
                                                                   "nvidia/cuda_nvcc/include/crt/host_config.h": HEADER.format(14)}),
                 f"nvidia_cuda_nvcc-13.0.88-{tag}": wheel_of({"nvidia/cu13/bin/ptxas": ptxas, "nvidia/cu13/bin/nvcc": nvcc}),
                 f"nvidia_cuda_crt-13.0.88-{tag}": wheel_of({"nvidia/cu13/include/crt/host_config.h": HEADER.format(15)}),
                 "torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl": wheel_of({"torch/utils/cpp_extension.py": EXTENSION}),
                 "flash_attn-2.8.1.tar.gz": sdist_of("flash_attn-2.8.1", "setup.py", SETUP.format("")),
                 "flash_attn-2.8.9.tar.gz": sdist_of("flash_attn-2.8.9", "setup.py", SETUP.format(', "gfx950"'))}
        lines = self.check(FILES_TABLE, added, "--files")[1]
        self.assertEqual([line for line in lines if "gpu" in line or " with gcc" in line or " with clang" in line], [
            "differs  cuda==13.0.88 with gpu: its files say sm_90 sm_100 sm_121, the row of ==13.0.* sm_90 sm_100",
            "differs  cuda==13.0.88 with gcc: its files say <16, the row of ==13.0.* <15",
            "no row   cuda==13.0.88 with clang <20",
            "differs  torch==2.6.0 with extension-gpu: its files say sm_80 sm_90 sm_100, the row of ==2.6.* sm_80 sm_90",
            "no row   flash-attn==2.8.9 with gpu gfx90a gfx950 sm_80+"])

    def test_only_final_releases_count_and_only_requirements_that_hold_on_linux(self):
        def vision(version, requirement):
            return {f"torchvision-{version}-cp312-cp312-manylinux_2_28_x86_64.whl": f"Name: torchvision\nRequires-Dist: {requirement}\n"}

        def found(added):
            return [line for line in self.check(TABLE, added)[1] if line.startswith("no row   torchvision==0.3")]

        self.assertEqual(found(vision("0.30.0", "torch==9.1.0; platform_machine == 'x86_64'")), ["no row   torchvision==0.30.0 with torch==9.1.0"])
        for version, requirement in (("0.30.0rc1", "torch==9.1.0"), ("0.30.1+cu130", "torch==9.1.0"), ("0.30.0", "torch==9.1.0; extra == 'x'"),
                                     ("0.30.0", "torch==9.1.0; python_version >= '3.13'"), ("0.30.0", "torch>=9.1.0")):
            with self.subTest(version=version, requirement=requirement):
                self.assertEqual(found(vision(version, requirement)), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
