"""What other tools say about a wheel: readelf, cuobjdump, clang-offload-bundler for each ELF file inside, auditwheel for the
whole. Their answers are kept beside the wheels, by wheel and tool versions: auditwheel alone takes minutes over torch."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import zipfile

FORMAT = 3  # raise it when this file reads something else
# readelf's machine names, as platform tags say them.
MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64", "Intel 80386": "i686", "PowerPC64": "ppc64le",
            "IBM S/390": "s390x", "ARM": "armv7l", "RISC-V": "riscv64", "NVIDIA CUDA architecture": "cuda",
            "AMD GPU architecture": "amdgpu"}
BUNDLE_MAGICS = (b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB")


def output_of(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", **options)
    return done.stdout, done.stderr, done.returncode


def find_bundler():
    """The newest clang-offload-bundler of this machine (Clang 16 knows --input; 17 and later read compressed bundles)."""
    named = os.environ.get("CLANG_OFFLOAD_BUNDLER")
    candidates = [named] if named else [f"clang-offload-bundler-{n}" for n in range(30, 15, -1)]
    return next((found for found in map(shutil.which, candidates) if found), None)


class Tools:
    def __init__(self, folder):
        self.auditwheel = folder / "bin" / "auditwheel"
        self.abi3audit = folder / "bin" / "abi3audit"
        self.readelf_of_llvm = next((found for found in map(shutil.which, ("llvm-readelf", "llvm-readelf-19")) if found), "llvm-readelf")
        self.cuobjdump = next(folder.glob("lib/python*/site-packages/nvidia/*/bin/cuobjdump"))
        self.bundler = find_bundler()
        if self.bundler is None:
            raise SystemExit("references: no clang-offload-bundler here; on Debian 12: apt-get install clang-tools-19")
        self.policies = {}
        for path in folder.glob("lib/python*/site-packages/auditwheel/policy/*-policy.json"):
            self.policies[path.name.removesuffix("-policy.json")] = json.loads(path.read_text())

    def versions(self):
        lines = [output_of("readelf", "--version")[0].splitlines()[0],
                 output_of(self.auditwheel, "--version")[0].split(" installed")[0].strip(),
                 output_of(self.abi3audit, "--version")[0].strip(),
                 "cuobjdump " + re.search(r"V[\d.]+", output_of(self.cuobjdump, "--version")[0])[0],
                 "clang-offload-bundler " + re.search(r"version ([\d.]+)", output_of(self.bundler, "--version")[0])[1]]
        return lines


def read_needs(lines):
    """{library: versions} of readelf's "Version needs section"."""
    needs, library, inside = {}, None, False
    for line in lines:
        if line.startswith("Version "):
            inside = line.startswith("Version needs section")
        if inside:
            if found := re.search(r"File: (\S+)", line):
                library = needs.setdefault(found[1], [])
            elif found := re.search(r"Name: (\S+)", line):
                library.append(found[1])
    return {name: sorted(set(versions)) for name, versions in needs.items()}


def read_elf(path):
    text, _, _ = output_of("readelf", "--wide", "--file-header", "--dynamic", "--version-info", "--section-headers", path)
    machine = re.search(r"Machine:\s+(.*?)\s*$", text, re.M)
    sonames = re.findall(r"\(SONAME\).*\[(.*)\]", text)
    paths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text)
    return {"machine": MACHINES.get(machine[1], machine[1]) if machine else "",
            "soname": sonames[0] if sonames else "",
            "needed": re.findall(r"\(NEEDED\).*\[(.*)\]", text),
            "search_paths": [part for path in paths for part in path.split(":") if part],
            "version_needs": read_needs(text.splitlines()),
            "hip_section": re.search(r"\] \.hip_fatbin\s+PROGBITS\s+\S+ (\S+) (\S+)", text)}


def list_cuda(tools, path):
    text, errors, code = output_of(tools.cuobjdump, "--all-fatbin", "--list-elf", "--list-ptx", path)
    lists = {"cuda_sm": sorted(set(re.findall(r"^ELF file.*\.(sm_\w+)\.", text, re.M))),
             "cuda_ptx": sorted({"compute_" + arch for arch in re.findall(r"^PTX file.*\.sm_(\w+)\.", text, re.M)})}
    if code != 0 and "does not contain device code" not in errors + text:
        lists["cuobjdump_error"] = (errors + text).strip().replace(str(path), "FILE").splitlines()[0]
    return lists


def without_compression(bundle):
    """ROCm 7 writes compressed bundles of a version that Clang 19 cannot read: their zstd frame is unpacked by zstd itself."""
    frame = bundle.find(b"\x28\xb5\x2f\xfd", 0, 64)
    if not bundle.startswith(b"CCOB") or frame < 0:
        return bundle
    done = subprocess.run(["zstd", "--decompress", "--stdout", "--quiet"], input=bundle[frame:], capture_output=True)
    return done.stdout or bundle  # what follows the frame is padding, of which zstd complains


def list_code_object(tools, path):
    """The processor and the features that a code object of ROCm depends on, from "0x63F, gfx90a, xnack-, sramecc"."""
    flags = re.search(r"^ *Flags: *0x\w+, *(.*)$", output_of(tools.readelf_of_llvm, "-h", path)[0], re.M)
    name, *features = flags[1].split(", ") if flags else [""]
    return {"hip_gfx": [":".join([name, *sorted(feature for feature in features if feature[-1] in "+-")])] if name else []}


def list_hip(tools, path, section):
    if section is None:
        return {"hip_gfx": []}
    offset, size = int(section[1], 16), int(section[2], 16)
    with open(path, "rb") as file:
        file.seek(offset)
        data = file.read(size)
    # The linker lays one bundle of each compile behind the other, each at a 4 KiB boundary.
    starts = [at for at in range(0, len(data), 4096) if data.startswith(BUNDLE_MAGICS, at)]
    gfx, errors = set(), []
    for start, end in zip(starts, starts[1:] + [len(data)]):
        with tempfile.NamedTemporaryFile(dir=path.parent) as piece:
            piece.write(without_compression(data[start:end]))
            piece.flush()
            text, error, code = output_of(tools.bundler, "--list", "--type=o", f"--input={piece.name}")
        gfx.update(re.findall(r"amdgcn-amd-amdhsa-+(gfx\S+)", text))
        if code != 0:
            errors.append(error.strip().splitlines()[-1].split("error: ")[-1].replace(piece.name, "FILE"))
    lists = {"hip_gfx": sorted(gfx)}
    if errors:
        lists["bundler_error"] = f"{len(errors)} of {len(starts)} bundles: {errors[0]}"
    return lists


def read_members(tools, path):
    """{member: what readelf, cuobjdump and clang-offload-bundler say} of every member that begins like an ELF file."""
    members = {}
    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for info in archive.infolist():
            with archive.open(info) as member:
                head = member.read(4)
                if head != b"\x7fELF":
                    continue
                file = pathlib.Path(folder, "member")
                with open(file, "wb") as out:
                    out.write(head)
                    shutil.copyfileobj(member, out, 1 << 20)
            elf = read_elf(file)
            section = elf.pop("hip_section")
            hip = list_code_object(tools, file) if elf["machine"] == "amdgpu" else list_hip(tools, file, section)
            members[info.filename] = {**elf, **list_cuda(tools, file), **hip}
            file.unlink()
    return members


def audit(tools, path):
    text, errors, code = output_of(tools.auditwheel, "show", "--json", "--allow-pure-python-wheel", path)
    if code != 0 or not text:
        return {"error": (errors.strip().splitlines() or ["no answer"])[-1]}
    report = json.loads(text)
    return {name: report[name] for name in ("pure", "overall_tag", "sym_tag", "versioned_symbols", "external_libs") if name in report}


def audit_abi3(tools, path):
    """{file name: what abi3audit says of the module}; it names no folders."""
    if "-abi3" not in path.name:
        return {}
    text, errors, _ = output_of(tools.abi3audit, "--report", path)
    if not text:
        return {"error": (errors.strip().splitlines() or ["no answer"])[-1]}
    (report,) = json.loads(text)["specs"].values()
    return {module["name"]: module["result"] for module in report["wheel"]}


def read_references(tools, wheel, cache, fresh=False):
    kept = cache / "references" / f"{wheel.filename}.json"
    versions = tools.versions()
    if kept.exists() and not fresh:
        references = json.loads(kept.read_text())
        if references["format"] == FORMAT and references["tools"] == versions and references["sha256"] == wheel.sha256:
            return references
    path = cache / wheel.filename
    references = {"format": FORMAT, "tools": versions, "sha256": wheel.sha256, "auditwheel": audit(tools, path), "abi3audit": audit_abi3(tools, path),
                  "elf_files": read_members(tools, path)}
    kept.parent.mkdir(exist_ok=True)
    temporary = kept.with_suffix(".tmp")
    temporary.write_text(json.dumps(references))
    temporary.rename(kept)
    return references
