"""An index of source distributions on loopback, so that the builder takes its sources as it would from a real one.

    with PackageIndex(folder) as index:
        write_sdist(folder, "yard-pure", "1.0")
        environment = farm.environment | index.pip_environment

It also offers the build back ends that scripts/prepare-clients fetched, so no build reaches beyond loopback.
"""

from __future__ import annotations  # for Python 3.9

import hashlib
import html
import io
import re
import tarfile
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import quote, unquote

from support.farm import CLIENTS
from support.loopback_server import LoopbackServer

# It calls a program that prints, as netCDF4's calls nc-config.
SETUP_OF_A_C_EXTENSION = """
import os
from setuptools import Extension, setup
os.system("echo -L/usr/lib")
setup(ext_modules=[Extension("{module}._fast", ["fast.c"], optional={optional})])
"""
FAST_C = """
#include <Python.h>
static PyObject* answer(PyObject* self, PyObject* none) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, 0}, {0, 0, 0, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fast", 0, -1, methods, 0, 0, 0, 0};
PyMODINIT_FUNC PyInit__fast(void) { return PyModule_Create(&module); }
"""


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def write_sdist(folder: Path, name: str, version: str, c_source: str | None = None, value: int = 1,
                module_source: str = "", module: str = "", back_end: str = "setuptools>=61", optional: bool = False,
                requires: tuple[str, ...] = ()) -> Path:
    """NAME-VERSION.tar.gz: pure Python, or with a C extension when `c_source` is given. `module`: the name that it is imported by.
    `requires`: of the wheel. `optional`: the build goes on where it cannot compile.
    `back_end`: the requirement of setuptools, which reads [project] since 61; a new environment of Python 3.9 has an older one."""
    stem = normalised(name).replace("-", "_")
    module = module or stem
    pyproject = (f'[build-system]\nrequires = ["{back_end}"]\nbuild-backend = "setuptools.build_meta"\n'
                 f'[project]\nname = "{name}"\nversion = "{version}"\ndependencies = {list(requires)}\n[tool.setuptools]\npackages = ["{module}"]\n')
    members = {
        "pyproject.toml": pyproject,
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{module}/__init__.py": module_source or f"value = {value}\n",
    }
    if c_source is not None:
        members["setup.py"] = SETUP_OF_A_C_EXTENSION.format(module=module, optional=optional)
        members["fast.c"] = c_source
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for member, text in members.items():
            data = text.encode()
            info = tarfile.TarInfo(f"{stem}-{version}/{member}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


class PackageIndex(LoopbackServer):
    def __init__(self, folder: Path, wheels: Path = CLIENTS / "wheels"):
        """`wheels`: the build back ends that it offers, too."""
        self.folder, self.wheels = folder, wheels
        self.folder.mkdir(parents=True, exist_ok=True)
        self.downloads: list[str] = []  # names of files that were asked for
        index = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                status, content_type, body = index.answer(unquote(self.path))
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(Handler)

    @property
    def url(self) -> str:
        return super().url + "/simple/"

    @property
    def pip_environment(self) -> dict[str, str]:
        """pip's own words for "take packages from here": the builder must obey them."""
        return {"PIP_INDEX_URL": self.url}

    def files(self) -> dict[str, Path]:
        return {path.name: path for folder in (self.folder, self.wheels) for path in folder.iterdir()}

    def answer(self, path: str) -> tuple[int, str, bytes]:
        kind, _, rest = path.lstrip("/").partition("/")
        files = self.files()
        if kind == "files" and rest in files:
            self.downloads.append(rest)
            return 200, "application/octet-stream", files[rest].read_bytes()
        if kind == "simple":
            project = rest.strip("/")
            rows = [f'<a href="/files/{quote(name)}#sha256={hashlib.sha256(file.read_bytes()).hexdigest()}">'
                    f"{html.escape(name)}</a><br>" for name, file in sorted(files.items())
                    if normalised(name.split("-")[0]) == project]
            if rows:
                return 200, "text/html", f"<!DOCTYPE html><html><body>{''.join(rows)}</body></html>".encode()
        return 404, "text/plain", b"not found"
