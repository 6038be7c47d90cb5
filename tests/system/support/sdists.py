"""Source distributions whose build needs no index."""

import io
import tarfile
from pathlib import Path

# A backend inside the project, so that a build needs no index.
OWN_BACKEND = '[build-system]\nrequires = {build_requires}\nbuild-backend = "own"\nbackend-path = ["."]\n'
OWN = '''import base64, hashlib, pathlib, zipfile

def record_of(path, text):
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"{{path}},sha256={{digest}},{{len(text.encode())}}\\n"

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name, version = "{name}", "{version}"
    info = f"{{name}}-{{version}}.dist-info"
    filename = f"{{name}}-{{version}}-py3-none-any.whl"
    files = {{f"{{name}}.py": pathlib.Path(f"{{name}}.py").read_text(),
             f"{{info}}/METADATA": f"Metadata-Version: 2.2\\nName: {{name}}\\nVersion: {{version}}\\n{requires}",
             f"{{info}}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}}
    with zipfile.ZipFile(pathlib.Path(folder) / filename, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{{info}}/RECORD", "".join(record_of(*file) for file in files.items()) + f"{{info}}/RECORD,,\\n")
    return filename
'''


def back_end(name: str, version: str, requires: tuple[str, ...] = ()) -> str:
    """The source of own.py. `requires`: of the wheel."""
    return OWN.format(name=name, version=version, requires="".join(f"Requires-Dist: {one}\\n" for one in requires))


class Sdist:
    """A source distribution of a module with `value`, with changes: members by name, None leaves one out."""

    def __init__(self, name: str, version: str = "1.0", value: int = 7, metadata: str | None = None, folder: str | None = None,
                 requires: tuple[str, ...] = (), build_requires: tuple[str, ...] = (), before: str = "", **members: bytes):
        """`before`: what the back end does when it is imported."""
        self.name, self.version = name, version
        self.folder = folder or f"{name}-{version}"
        self.extra: list[tarfile.TarInfo] = []
        self.members = {
            "PKG-INFO": (metadata or f"Metadata-Version: 2.2\nName: {name}\nVersion: {version}\nRequires-Python: >=3.8\n").encode(),
            "pyproject.toml": OWN_BACKEND.format(build_requires=list(build_requires)).encode(), "own.py": (before + back_end(name, version, requires)).encode(),
            f"{name}.py": f"value = {value}\n".encode(), **members}

    def add(self, name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> "Sdist":
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname, entry.size = kind, link, size
        self.extra.append(entry)
        return self

    def write(self, folder: Path, filename: str | None = None) -> Path:
        path = folder / (filename or f"{self.name}-{self.version}.tar.gz")
        with tarfile.open(path, "w:gz") as archive:
            for name, data in self.members.items():
                entry = tarfile.TarInfo(f"{self.folder}/{name}")
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
            for entry in self.extra:
                archive.addfile(entry, io.BytesIO(bytes(entry.size)) if entry.size else None)
        return path
