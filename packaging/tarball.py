"""The portable tarball of one machine: programs, manual, documents, site configurations, licences. The same bytes every time."""

import io
import lzma
import tarfile

import contents
from fetch import ROOT
from programs import PROGRAMS


def members(programs, is_ours):
    """Path in the tarball → (mode, bytes)."""
    licences, inside = contents.documents("wheelyard", is_ours)
    files = {f"bin/{name}": (0o755, (programs / name).read_bytes()) for name in PROGRAMS}
    files["bin/wheelyard-try"] = (0o755, (ROOT / "packaging/wheelyard-try").read_bytes())
    plain = {f"share/wheelyard/site-configs/{name}": data for name, data in contents.site_configs().items()}
    plain |= {f"share/doc/wheelyard/docs/{name}": data for name, data in contents.guides("wheelyard").items()}
    plain |= {f"share/doc/wheelyard/licences/{name}.txt": data for name, data in licences.items()}
    plain |= {f"share/{name}": data for name, data in contents.manual(PROGRAMS).items()}
    if inside:
        plain["share/doc/wheelyard/wheelyard.cdx.json"] = inside
    plain["share/doc/wheelyard/Containerfile"] = (ROOT / "packaging/Containerfile").read_bytes()
    plain["share/doc/wheelyard/wheelyard-registry.service"] = (ROOT / "docs/reference/wheelyard-registry.service").read_bytes()
    return files | {name: (0o644, data) for name, data in plain.items()}


def write(machine, programs, is_ours, out, preset=9):
    name = f"wheelyard-{contents.VERSION}-portable-linux-{machine}"
    path = out / f"{name}.tar.xz"
    unfinished = out / f"{path.name}.unfinished"  # a run that is killed leaves no half tarball
    moment = contents.epoch()
    with lzma.open(unfinished, "wb", preset=preset) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for member, (mode, data) in sorted(members(programs, is_ours).items()):
            info = tarfile.TarInfo(f"{name}/{member}")
            info.size, info.mode, info.mtime = len(data), mode, moment
            info.uname = info.gname = "root"
            tar.addfile(info, io.BytesIO(data))
    return unfinished.rename(path)
