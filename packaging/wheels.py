"""The wheels `wheelyard` and `avail-wheels`: the portable programs as scripts, as ninja and ruff come.

A wheel's scripts need no Python and no C library, so one wheel for glibc and musl has both tags.
"""

import base64
import hashlib
import struct
import time
import zipfile

import contents
from fetch import HOMEPAGE, PackageError

# Wheel → its summary, its description (Markdown), its programs, and whether it has the site configurations.
WHEELS = {
    "avail-wheels": ("Lists the wheels of an index, and which of them run here", """\
`avail_wheels` reads an index of Python wheels and shows which of them run on this node, with this Python, and what the others
lack: a Python, glibc, a processor, a GPU, a driver, an MPI, a library.

    avail_wheels --index-url https://farm.example/main/simple/ --why torch

The program is static: it needs Linux on x86_64 or aarch64, and no Python. `avail_wheels --help` has the rest.
""", ["avail_wheels"], False),
    "wheelyard": ("Builds Python wheels on clusters: the agent and the governor of memory", """\
`wheelyard-builder` builds, on a cluster, the wheels that a site file wants, as local processes or through Slurm or PBS, and
uploads them to a registry. `wheelyard-governor` runs one build as fast as its memory allows. `avail-wheels` comes with them.

    wheelyard-builder site init          # writes a first site.toml from what this login node reports
    wheelyard-builder run                # builds what it wants
    wheelyard-governor -- make -j        # any other build, within the memory that is there

The programs are static: they need Linux on x86_64 or aarch64. Builds need a Python with its venv.
""", ["wheelyard-builder", "wheelyard-governor"], True),
}
TAGS = ("manylinux_2_17", "musllinux_1_1")
PT_INTERP = 3


def metadata(name, summary, description, licence_files):
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {contents.VERSION}", f"Summary: {summary}",
             "License-Expression: Apache-2.0", "Description-Content-Type: text/markdown", *(f"License-File: {file}" for file in licence_files), "Requires-Python: >=3.6"]
    if name == "wheelyard":
        lines.append(f"Requires-Dist: avail-wheels=={contents.VERSION}")
    if HOMEPAGE:
        lines.append(f"Project-URL: Homepage, {HOMEPAGE}")
    return "\n".join(lines) + f"\n\n{description}"


def check_static(program):
    """The tags promise a program that needs no C library: an ELF file without PT_INTERP (elf(5)). Scripts are let through."""
    data = program.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        return
    at, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    if any(struct.unpack_from("<I", data, at + size * number)[0] == PT_INTERP for number in range(count)):
        raise PackageError(f"{program} needs this system's C library, and the wheels are tagged {', '.join(TAGS)}: "
                           "name static programs, as `scripts/package portable` makes them")


def members(name, machine, programs, is_ours):
    """Path in the wheel → (mode, bytes), without RECORD."""
    summary, description, names, has_sites = WHEELS[name]
    if "linux" not in TAGS:  # that tag promises nothing
        for each in names:
            check_static(programs / each)
    stem = f"{name.replace('-', '_')}-{contents.VERSION}"
    info, data = f"{stem}.dist-info", f"{stem}.data"
    licences, inside = contents.documents(name, is_ours)
    licences = {f"{each}.txt": text for each, text in licences.items()}
    files = {f"{data}/scripts/{each}": (0o755, (programs / each).read_bytes()) for each in names}
    plain = {f"{info}/licenses/{each}": text for each, text in licences.items()}
    if has_sites:
        plain |= {f"{data}/data/share/wheelyard/site-configs/{each}": text for each, text in contents.site_configs().items()}
    plain |= {f"{data}/data/share/doc/{name}/docs/{each}": text for each, text in contents.guides(name).items()}
    plain |= {f"{data}/data/share/{path}": text for path, text in contents.manual(names).items()}
    plain[f"{info}/METADATA"] = metadata(name, summary, description, sorted(licences)).encode()
    plain[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: wheelyard\nRoot-Is-Purelib: false\n"
                              + "".join(f"Tag: py3-none-{tag}_{machine}\n" for tag in TAGS)).encode()
    if inside:
        plain[f"{info}/sboms/{name}.cdx.json"] = inside
    return files | {path: (0o644, text) for path, text in plain.items()}


def write_one(name, machine, programs, is_ours, out):
    files = members(name, machine, programs, is_ours)
    stem = f"{name.replace('-', '_')}-{contents.VERSION}"
    record = f"{stem}.dist-info/RECORD"
    lines = []
    for path, (_, data) in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    files[record] = (0o644, ("".join(lines) + f"{record},,\n").encode())
    path = out / f"{stem}-py3-none-{'.'.join(f'{tag}_{machine}' for tag in TAGS)}.whl"
    unfinished = out / f"{path.name}.unfinished"
    moment = time.gmtime(contents.epoch())[:6]
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        # The .dist-info last, as the format recommends.
        for member in sorted(files, key=lambda each: (".dist-info/" in each, each)):
            mode, data = files[member]
            info = zipfile.ZipInfo(member, moment)
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(info, data)
    return unfinished.rename(path)


def write(machine, programs, is_ours, out):
    return [write_one(name, machine, programs, is_ours, out) for name in WHEELS]
