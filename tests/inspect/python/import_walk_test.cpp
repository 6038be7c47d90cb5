// What an import reaches, by the sources of a wheel's modules alone.
#include "lib/inspect/python/import_walk.hpp"

#include <doctest/doctest.h>

#include "lib/inspect/python/gone_names.hpp"

using namespace wheelyard::inspect;

namespace {

// {"pkg/__init__.py", source}; a name that ends in ".so" is an extension module, numbered in the order of the names.
using Files = std::map<std::string, std::string>;

struct Wheel {
    WheelModules modules;
    std::map<std::string, std::string> sources;
    std::vector<std::string> files;

    explicit Wheel(const Files& all) {
        for (const auto& [path, source] : all) {
            std::string module = path.substr(0, path.find('.'));
            for (char& c : module)
                c = c == '/' ? '.' : c;
            const bool is_package = module.ends_with(".__init__");
            if (is_package) module.resize(module.size() - std::string_view(".__init__").size());
            auto& row = modules.modules[module];
            row.is_package = row.is_package || is_package;
            if (path.ends_with(".so")) {
                row.extensions.push_back(files.size());
                files.push_back(path);
            } else {
                row.has_source = true;
                sources[module] = source;
            }
        }
        modules.read = [this](std::string_view module) { return sources.at(std::string(module)); };
        modules.own_libraries = [](const std::vector<std::string>&) { return std::vector<std::size_t>(); };
    }
    Wheel(const Wheel&) = delete;

    [[nodiscard]] ImportWalk walk(const std::vector<std::string>& roots = {"pkg"}) const {
        return walk_imports(modules, roots);
    }
    // "pkg/_a.so always"
    [[nodiscard]] std::string reached() const {
        std::string text;
        for (const auto& [file, reach] : walk().files)
            text += (text.empty() ? "" : ", ") + files[file] +
                    (reach == Reach::always  ? " always"
                     : reach == Reach::maybe ? " maybe"
                                             : " never");
        return text;
    }
};

std::string reached(const std::string& init, const Files& more = {}) {
    Files files = more;
    files["pkg/__init__.py"] = init;
    files["pkg/_a.so"] = "";
    return Wheel(files).reached();
}

// "libx.so.1|-lx", "maybe libx.so.1"; several are joined by ", ". A computed name is "?".
std::string opened(const std::string& init, const Files& more = {}) {
    Files files = more;
    files["pkg/__init__.py"] = init;
    std::string text;
    for (const OpenedLibrary& one : Wheel(files).walk().opened) {
        text += (text.empty() ? "" : ", ") + std::string(one.is_certain ? "" : "maybe ");
        if (one.any.empty()) text += "?";
        for (const std::string& name : one.any)
            text += (&name == &one.any.front() ? "" : "|") + name;
    }
    return text;
}

std::string gone(const std::string& init) {
    std::string text;
    for (const auto& [name, module] : Wheel({{"pkg/__init__.py", init}}).walk().gone)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

TEST_CASE("an extension module is reached where the import of its package runs the statement") {
    struct Row {
        const char *source, *reached;
    };
    for (const Row& row : {
             Row{"from . import _a\n", "pkg/_a.so always"},
             Row{"import os; from pkg._a import (x as y,\n  z)\n", "pkg/_a.so always"},
             Row{"import pkg._a\n", "pkg/_a.so always"},
             Row{"if True:\n  from ._a import *\n", "pkg/_a.so always"},
             Row{"class A:\n  from . import _a\n", "pkg/_a.so always"},
             Row{"from . import b\ndef f():\n  from . import _a\n", ""},
             Row{"from . import b\ndef f():\n  from . import _a\nf()\n", "pkg/_a.so always"},
             Row{"import typing\nfrom . import b\nif typing.TYPE_CHECKING: from . import _a\n", ""},
             Row{"from . import b\nif __name__ == '__main__':\n  import pkg._a\n", ""},
             Row{"try:\n  from . import _a\nexcept ImportError:\n  _a = None\n", "pkg/_a.so never"},
             Row{"try:\n  from . import _a\nexcept:\n  pass\n", "pkg/_a.so never"},
             Row{"try:\n  from . import _a\nexcept ImportError as e:\n  raise RuntimeError('x') from e\n",
                 "pkg/_a.so always"},
             Row{"try:\n  from . import _a\nexcept ValueError:\n  pass\n", "pkg/_a.so always"},
             Row{"with contextlib.suppress(ImportError):\n  from . import _a\n", "pkg/_a.so never"},
             Row{"if settings.FAST:\n  from . import _a\n", "pkg/_a.so maybe"},
             Row{"from . import b\nif sys.platform == 'win32':\n  from . import _a\n", ""},
             Row{"from . import b\nif os.name == 'nt' or platform.system() == 'Darwin':\n  from . import "
                 "_a\n",
                 ""},
             Row{"if sys.platform.startswith('win'):\n  pass\nelse:\n  from . import _a\n",
                 "pkg/_a.so always"},
             Row{"from importlib import import_module\nimport_module('pkg._a')\n", "pkg/_a.so always"},
             // What is imported is not known: the extension modules of the package.
             Row{"import importlib\nimportlib.import_module(name)\n", "pkg/_a.so always"},
             Row{"from . import b\n'''\nfrom . import _a\n'''\n", ""},
             Row{"from . import b  # from . import _a\n", ""},
         }) {
        CAPTURE(row.source);
        CHECK(reached(row.source, {{"pkg/b.py", ""}}) == row.reached);
    }
    CHECK(reached("from .b import f\nf()\n", {{"pkg/b.py", "def f():\n  from . import _a\n"}}) ==
          "pkg/_a.so always");
    CHECK(reached("from . import b\n", {{"pkg/b.py", "from .._a import x\n"}}).empty());  // above the package
}

TEST_CASE("a package whose import reaches nothing stands for the extension modules beside it") {
    CHECK(reached("__version__ = '5'\n") == "pkg/_a.so always");
    CHECK(Wheel({{"pkg/sub/__init__.py", "from . import _b\n"}, {"pkg/sub/_b.so", ""}}).reached() ==
          "pkg/sub/_b.so always");
    CHECK(Wheel({{"pkg/__init__.py", ""}, {"pkg/sub/_b.so", ""}}).reached().empty());
}

TEST_CASE("libraries that Python code opens in an import") {
    struct Row {
        const char *source, *opened;
    };
    for (const Row& row : {
             Row{"from ctypes import CDLL\nCDLL('libx.so.1')\n", "libx.so.1"},
             Row{"import ctypes\nlib = ctypes.cdll.LoadLibrary('libx.so.1')\n", "libx.so.1"},
             Row{"import ctypes.util\nctypes.CDLL(ctypes.util.find_library('x'))\n", "-lx"},
             Row{"from ctypes.util import find_library as _f\npath = _f('x')\nif not path: raise "
                 "ImportError('x')\nCDLL(path)\n",
                 "-lx"},
             Row{"ffi = FFI()\nlib = ffi.dlopen('libx.so.1')\n", "libx.so.1"},
             Row{"lib = FFI().dlopen('libx.so.1')\n", "libx.so.1"},
             Row{"_NAME = 'libx.so.1'\nctypes.CDLL(_NAME)\n", "libx.so.1"},
             Row{"ctypes.CDLL('libx.so.1')\nctypes.CDLL('liby.so.2')\n", "libx.so.1, liby.so.2"},
             Row{"try:\n  ctypes.CDLL('libx.so.1')\nexcept OSError:\n  lib = None\n", ""},
             Row{"try:\n  ctypes.CDLL('libx.so.1')\nexcept OSError:\n  ctypes.CDLL('liby.so')\n",
                 "libx.so.1|liby.so"},
             Row{"def load():\n  return ctypes.CDLL('libx.so.1')\n", ""},
             Row{"def load():\n  return ctypes.CDLL('libx.so.1')\nLIB = load()\n", "libx.so.1"},
             Row{"class Lib:\n  def __init__(self): self.open()\n  def open(self): CDLL('libx.so.1')\nlib = "
                 "Lib()\n",
                 "libx.so.1"},
             Row{"if sys.platform == 'darwin':\n  n = 'libx.dylib'\nelse:\n  n = 'libx.so.1'\nCDLL(n)\n",
                 "libx.so.1"},
             Row{"ctypes.CDLL(os.environ['X'])\n", "?"},
             Row{"ctypes.CDLL(None)\nctypes.CDLL('libc.so.6')\nCDLL(find_library('c'))\n", ""},
             Row{"for n in ('x', 'libx.dylib'):\n  n = find_library(n)\n  if n: break\nelse:\n  raise "
                 "OSError('x')\nCDLL(n)\n",
                 "-lx"},
             // python-magic 0.4.27
             Row{"def _candidates():\n  yield find_library('magic')\n  yield 'libmagic.so.1'\n\n"
                 "def load():\n  for lib in _candidates():\n    try:\n      return ctypes.CDLL(lib)\n    "
                 "except OSError:\n      continue\n"
                 "  else:\n    raise ImportError('no libmagic')\nlib = load()\n",
                 "-lmagic|libmagic.so.1"},
             Row{"try:\n  CDLL('libx.so.1')\nexcept OSError:\n  CDLL('libc.so.6')\n", ""},
             // amdsmi 7.0.2, by ctypeslib2
             Row{"def find():\n  for at in ['libx.so', os.path.join('lib', 'libx.so')]:\n    try: return "
                 "CDLL(at)\n"
                 "    except OSError as e: err = e\n  raise err\ntry:\n  _libraries['libx.so'] = find()\n"
                 "except OSError:\n  print('install x')\ninit = _libraries['libx.so'].init\n",
                 "libx.so"},
             // cairocffi 1.7.1
             Row{"def dlopen(ffi, names, files):\n  for f in files:\n    try: return ffi.dlopen(f)\n    "
                 "except OSError: pass\n"
                 "  raise OSError('cairo')\ncairo = dlopen(ffi, ('cairo-2',), ('libcairo.so.2', "
                 "'libcairo.2.dylib'))\n",
                 "libcairo.so.2"},
         }) {
        CAPTURE(row.source);
        CHECK(opened(row.source) == row.opened);
    }
    CHECK(opened("from . import loader\nloader.load()\n",
                 {{"pkg/loader.py", "def load():\n  CDLL('libx.so.1')\n"}}) == "libx.so.1");
    // psycopg 3.3.9
    CHECK(opened("from .misc import find\nif not (name := find()): raise ImportError('x')\nCDLL(name)\n"
                 "if not (c := find_library('c')):\n  c = 'libc.so'\nCDLL(c)\n",
                 {{"pkg/misc.py", "def find():\n  return find_library('pq')\n"}}) == "maybe -lpq");
    CHECK(opened("try:\n  from . import a\nexcept OSError: pass\n", {{"pkg/a.py", "CDLL('libx.so.1')\n"}})
              .empty());
}

TEST_CASE("names of the standard library that some Pythons lack") {
    CHECK(gone("import cgi, os\n") == "cgi");
    CHECK(gone("from distutils.version import LooseVersion\n") == "distutils.version");
    CHECK(gone("import xml.etree.cElementTree as ET\n").empty());  // CPython 3.13 has it still
    CHECK(gone("import sys\nif sys.platform == 'win32':\n  import winreg\n").empty());
    CHECK(gone("import winreg\n") == "winreg");
    CHECK(gone("def f():\n  import winreg\nf()\n").empty());  // yt_dlp
    CHECK(gone("def f():\n  import cgi\nf()\n") == "cgi");
    CHECK(gone("import ctypes\nuser32 = ctypes.windll.user32\n") == "ctypes.windll.user32");
    CHECK(gone("from typing import Any, override\n") == "typing.override");
    CHECK(gone("import typing\nX = typing.Self\n") == "typing.Self");
    CHECK(gone("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  from typing import Self\n").empty());
    CHECK(gone("import sys\nif sys.version_info >= (3, 11):\n  import tomllib\nelse:\n  import tomli as "
               "tomllib\n")
              .empty());
    CHECK(gone("import collections\nclass A(collections.Mapping): pass\n") == "collections.Mapping");
    CHECK(gone("from collections import Mapping, deque\n") == "collections.Mapping");
    CHECK(gone("from collections.abc import Mapping\n").empty());
    CHECK(gone("try:\n  from collections.abc import Mapping\nexcept ImportError:\n  from collections import "
               "Mapping\n")
              .empty());
    CHECK(gone("try:\n  import imp\nexcept ImportError:\n  imp = None\n").empty());
    CHECK(gone("import sys\nif sys.version_info < (3, 12):\n  import distutils\n").empty());
    CHECK(gone("def f():\n  import cgi\n").empty());
    CHECK(
        gone("if NEW:\n  import annotationlib\n  def f(): annotationlib.get_annotations()\nelse:\n  def f(): "
             "pass\nf()\n")
            .empty());  // attrs 26.1
    CHECK(gone("import inspect\ndef f(): return inspect.getargspec\n").empty());
    CHECK(gone_name("distutils.version")->since == 12);
    CHECK(gone_name("cgitb")->since == 13);
    CHECK(gone_name("cgiutil") == nullptr);
}

TEST_CASE("a union with None that an import evaluates needs the Python that has it") {
    const std::string type = "types.UnionType";
    CHECK(gone("def f(a: int | None = None): pass\n") == type);
    CHECK(gone("def f(a) -> None | int: pass\n") == type);
    CHECK(gone("class A:\n  a: dict[str, int] | None = None\n  def f(self): pass\n") == type);
    CHECK(gone("from types import UnionType\n") == type);
    CHECK(gone("from __future__ import annotations\ndef f(a: int | None): pass\n").empty());
    CHECK(gone("def f(a: 'int | None', b=1 | 2): pass\n").empty());
    CHECK(gone("def f():\n  a: int | None = None\nf()\n").empty());
    CHECK(gone("def f():\n  def g(a: int | None): pass\n").empty());
    CHECK(gone("def f():\n  def g(a: int | None): pass\nf()\n") == type);
    CHECK(gone("if sys.version_info >= (3, 10):\n  def f(a: int | None): pass\n").empty());
    CHECK(gone("if typing.TYPE_CHECKING:\n  def f(a: int | None): pass\n").empty());
}

TEST_CASE("a name that a handler imports in place of another is not that of the first") {
    // ldap3 2.9.1
    CHECK(gone("try:\n  from collections.abc import Mapping\nexcept ImportError:\n  from collections import "
               "Mapping\n"
               "class A(Mapping): pass\n")
              .empty());
}

TEST_CASE("a module that neither the wheel nor a standard library has is of another project") {
    const auto foreign = [](const std::string& init) {
        std::string text;
        for (const auto& [module, by] :
             Wheel({{"pkg/__init__.py", init}, {"pkg/a.py", ""}, {"other.py", ""}}).walk().foreign)
            text += (text.empty() ? "" : " ") + module + "," + by;
        return text;
    };
    CHECK(foreign("import botocore.config, os.path, distutils, _thread, pkg.a, other\n") == "botocore,pkg");
    CHECK(foreign("from . import a\nfrom .a import x\n").empty());
    CHECK(foreign("try:\n  import numpy\nexcept ImportError:\n  numpy = None\n").empty());
    CHECK(foreign("def f():\n  import numpy\n").empty());
    // fsspec: a class with a base is not called where it is defined.
    const std::string of_class = "class A(Base):\n  def __init__(self):\n    import numpy\n";
    CHECK(foreign(of_class).empty());
    CHECK(foreign(of_class + "A()\n") == "numpy,pkg");
    CHECK(foreign(of_class + "class B(mixed(A())):\n  pass\n") == "numpy,pkg");
    CHECK(foreign("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import numpy\n").empty());
    CHECK(foreign("if x:\n  import numpy\n").empty());
}

TEST_CASE("a removed module in whose place a handler imports one of another project is missed") {
    const auto replaced = [](const std::string& init) {
        const auto found = Wheel({{"pkg/__init__.py", init}}).walk().replaced;
        return found.empty() ? std::string() : found.begin()->first + " " + found.begin()->second.first;
    };
    // pydub 0.25.1
    CHECK(replaced("try:\n  import audioop\nexcept ImportError:\n  import pyaudioop as audioop\n") ==
          "audioop pyaudioop");
    CHECK(replaced("try:\n  import audioop\nexcept ImportError:\n  audioop = None\nimport numpy\n").empty());
    CHECK(replaced("try:\n  import audioop\nexcept ImportError:\n  try:\n    import pyaudioop\n"
                   "  except ImportError:\n    pass\n")
              .empty());
    CHECK(replaced("try:\n  import tomllib\nexcept ImportError:\n  import tomli\n") == "tomllib tomli");
    CHECK(replaced("try:\n  import json\nexcept ImportError:\n  import ujson\n").empty());
}

TEST_CASE("a limit that is reached proves nothing, and damaged source ends") {
    std::string many;
    for (int i = 0; i < 4000; ++i)
        many += "from . import m" + std::to_string(i) + "\n";
    Files files{{"pkg/__init__.py", many}};
    for (int i = 0; i < 4000; ++i)
        files["pkg/m" + std::to_string(i) + ".py"] = "";
    CHECK_FALSE(Wheel(files).walk().is_whole);
    for (const std::string& source :
         {std::string("if x:\n def f(\n  class\n'''"), std::string(200'000, '('), std::string("\0\\", 2),
          std::string("from . import\nimport\nexcept:\nelse:\n@\n")}) {
        CHECK(opened(source).empty());
    }
    std::string deep;
    for (std::size_t i = 0; i < 400; ++i)
        deep += std::string(i, ' ') + "if x:\n";
    CHECK(opened(deep).empty());
}
