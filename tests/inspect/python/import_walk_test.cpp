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
             Row{"if True:\n  from ._a import *\n", "pkg/_a.so maybe"},
             Row{"class A:\n  from . import _a\n", "pkg/_a.so always"},
             Row{"from . import b\ndef f():\n  from . import _a\n", "pkg/_a.so maybe"},
             Row{"async def f():\n  from . import _a\n", "pkg/_a.so maybe"},
             Row{"import typing\nfrom . import b\nif typing.TYPE_CHECKING: from . import _a\n",
                 "pkg/_a.so never"},
             Row{"from . import b\nif __name__ == '__main__':\n  import pkg._a\n", "pkg/_a.so never"},
             Row{"if __package__ or '.' in __name__:\n  from . import _a\nelse:\n  import _a\n",
                 "pkg/_a.so maybe"},
             Row{"if not TYPE_CHECKING:\n  from . import _a\n", "pkg/_a.so maybe"},
             Row{"from . import b\ntry:\n  from . import _a\nexcept ImportError:\n  _a = None\n",
                 "pkg/_a.so never"},
             Row{"from . import b\ntry:\n  from . import _a\nexcept:\n  pass\n", "pkg/_a.so never"},
             Row{"try:\n  from . import _a\nexcept ImportError as e:\n  raise RuntimeError('x') from e\n",
                 "pkg/_a.so always"},
             // numpy 2.3
             Row{"try:\n  from . import _a\nexcept ImportError as e:\n  import sys\n  if e.x:\n    raise\n"
                 "  raise ImportError('x') from e\nfinally:\n  pass\n",
                 "pkg/_a.so always"},
             Row{"try:\n  from . import _a\nexcept ImportError:\n  if x:\n    raise\n", "pkg/_a.so maybe"},
             Row{"from . import b\nwith contextlib.suppress(ImportError):\n  from . import _a\n",
                 "pkg/_a.so never"},
             Row{"if settings.FAST:\n  from . import _a\n", "pkg/_a.so maybe"},
             Row{"if sys.platform == 'win32':\n  pass\nelse:\n  from . import _a\n", "pkg/_a.so maybe"},
             Row{"from importlib import import_module\nimport_module('pkg._a')\n", "pkg/_a.so always"},
             // What is imported is not known: the extension modules of the package.
             Row{"from . import b\nimportlib.import_module(name)\n", "pkg/_a.so maybe"},
             Row{"from . import b\nimportlib.import_module('pkg')\n", "pkg/_a.so maybe"},  // opencv
             Row{"from . import b\n'''\nfrom . import _a\n'''\n", ""},
             Row{"from . import b  # from . import _a\n", ""},
         }) {
        CAPTURE(row.source);
        CHECK(reached(row.source, {{"pkg/b.py", ""}}) == row.reached);
    }
    CHECK(reached("from . import b\n", {{"pkg/b.py", "from pkg import _a\n"}}) == "pkg/_a.so always");
    CHECK(reached("if x: from . import b\n", {{"pkg/b.py", "from . import _a\n"}}) == "pkg/_a.so maybe");
    CHECK(reached("from . import b\n", {{"pkg/b.py", "from .._a import x\n"}}).empty());  // above the package
}

TEST_CASE("after a package whose import reaches nothing the extension modules beside it may be imported") {
    CHECK(reached("__version__ = '5'\n") == "pkg/_a.so maybe");
    CHECK(Wheel({{"pkg/sub/__init__.py", "from . import _b\n"}, {"pkg/sub/_b.so", ""}}).reached() ==
          "pkg/sub/_b.so always");
    CHECK(Wheel({{"pkg/__init__.py", ""}, {"pkg/sub/_b.so", ""}}).reached().empty());
}

TEST_CASE("a module counts as lacking where its import is at the top of a module, outside of all blocks") {
    CHECK(gone("import cgi, os\n") == "cgi");
    CHECK(gone("import os; import cgi as c\n") == "cgi");
    CHECK(gone("from distutils.version import LooseVersion\n") == "distutils.version");
    CHECK(gone("from distutils import log\n") == "distutils");
    CHECK(gone("import xml.etree.cElementTree as ET\n").empty());  // CPython 3.13 has it still
    CHECK(gone("import winreg, tomllib, tkinter\n").empty());
    CHECK(gone("from typing.io import BinaryIO\n") == "typing.io");
    CHECK(gone("import collections\nX = collections.Mapping\nfrom typing import Self\n").empty());
    for (const char* header :
         {"try:", "if x:", "with suppress(ImportError):", "with x:", "for x in y:", "while x:", "def f():",
          "async def f():", "class A:", "if True:", "match x:\n case 1:", "if x:\n  pass\n else:"}) {
        CAPTURE(header);
        CHECK(gone(std::string(header) + "\n  import cgi\nexcept ImportError:\n  raise\n").empty());
        CHECK(gone(std::string(header) + " import cgi\n").empty());
    }
    CHECK(gone("try:\n  import cgi\nexcept ImportError as e:\n  raise ImportError('x') from e\n").empty());
    CHECK(gone("try:\n  import os\nexcept ImportError:\n  import imp\n").empty());
    // The module may come from elsewhere.
    CHECK(gone("import sys\nsys.modules['cgi'] = x\nimport cgi\n").empty());
    CHECK(gone("import sys\nif x: sys.path.insert(0, 'vendored')\nimport cgi\n").empty());
    CHECK(gone("import sys\nif 'x' in sys.modules or y in sys.path: z = 1\nimport cgi\n") == "cgi");
    for (const char* change :
         {"def f():\n  sys.path.append('x')\nf()\n", "sys.modules.setdefault('cgi', x)\n",
          "sys.modules.update(x)\n", "sys.path_hooks.append(x)\n", "import sys as _s\n_s.path.append('x')\n",
          "from sys import path\n", "from sys import *\n", "from sys import modules as m\n",
          "if x: from . import shim\n"}) {
        CAPTURE(change);
        const Files files{{"pkg/__init__.py", change + std::string("import cgi\n")},
                          {"pkg/shim.py", "import sys\nsys.modules['cgi'] = x\n"}};
        CHECK(Wheel(files).walk().gone.empty());
    }
    CHECK(gone("from sys import version_info\nimport cgi\n") == "cgi");
    const auto of = [](const Files& files) { return Wheel(files).walk().gone; };
    CHECK(of({{"pkg/__init__.py", "import imp, cgi, distutils.core\n"},
              {"imp.py", ""},
              {"cgi/__init__.py", ""},
              {"_distutils_hack/__init__.py", ""}})
              .empty());  // setuptools
    CHECK(of({{"pkg/__init__.py", "from . import a\n"}, {"pkg/a.py", "import imp\n"}}).at("imp") == "pkg.a");
    CHECK(of({{"pkg/__init__.py", "class A:\n  from . import a\n"}, {"pkg/a.py", "import imp\n"}}).empty());
    CHECK(of({{"pkg/__init__.py", "from . import b\n"},
              {"pkg/a/__init__.py", "x = 1\n"},
              {"pkg/a/x.py", "import imp\n"},
              {"pkg/b.py", "from .a import x\n"}})
              .empty());  // x may be what the package has
    CHECK(
        of({{"pkg/__init__.py", "import pkg.a\n"}, {"pkg/a.py", "import imp\n"}, {"pkg/a.so", ""}}).empty());
    // Nobody imports all modules of a folder, or of a wheel without one of the project's name.
    CHECK(of({{"pkg/a.py", ""}, {"pkg/win.py", "import imp\n"}}).empty());
    CHECK(of({{"pkg/only.py", "import imp\n"}}).at("imp") == "pkg.only");
    CHECK(of({{"pkg/__init__.py", ""}, {"pkg/pkg.py", "import imp\n"}}).empty());
    CHECK(Wheel({{"mod.py", ""}, {"setup.py", "import distutils\n"}}).walk({"mod", "setup"}).gone.empty());
    CHECK(gone_name("distutils.version")->since == 12);
    CHECK(gone_name("cgitb")->since == 13);
    CHECK(gone_name("cgiutil") == nullptr);
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
    CHECK(foreign("def f():\n  import numpy\nf()\n").empty());
    CHECK(foreign("if x:\n  import numpy\n").empty());
}

TEST_CASE("Python code that opens libraries is known where it may be imported") {
    const auto opens = [](const Files& files) { return Wheel(files).walk().opens_libraries; };
    for (const char* source : {"x = ctypes.CDLL('libx.so')\n", "def f():\n  cdll.LoadLibrary(x)\n",
                               "lib = ffi.dlopen('libx.so.1')\n"})
        CHECK(opens({{"pkg/__init__.py", source}}));
    CHECK(opens({{"pkg/__init__.py", "from . import a\n"}, {"pkg/a.py", "PyDLL(x)\n"}}));
    CHECK(opens({{"pkg/__init__.py", "if x: from . import a\n"}, {"pkg/a.py", "PyDLL(x)\n"}}));
    CHECK_FALSE(opens({{"pkg/__init__.py", ""}, {"pkg/a.py", "PyDLL(x)\n"}}));
    CHECK_FALSE(opens({{"pkg/__init__.py", "import ctypes\n"}}));
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
        CHECK(gone(source).empty());
    }
    std::string deep;
    for (std::size_t i = 0; i < 400; ++i)
        deep += std::string(i, ' ') + "if x:\n";
    CHECK(reached(deep + std::string(400, ' ') + "from . import _a\n") == "pkg/_a.so maybe");
}
