// What of a wheel's libraries its import needs.
#include "lib/inspect/inspect.hpp"

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

inspect::Facts facts_of(const std::function<void(WheelWriter&)>& edit) {
    WheelWriter wheel("six", "1.16.0");
    wheel.tag(linux_311);
    edit(wheel);
    return checked(pack(wheel)).facts;
}

std::string library(const std::string& soname, const std::vector<std::string>& needed) {
    ElfImage image;
    image.soname = soname;
    image.needed = needed;
    image.runpath = "$ORIGIN/../six.libs:$ORIGIN/../../six.libs";
    return write_elf(image);
}

const std::string suffix = ".cpython-311-x86_64-linux-gnu.so";

}  // namespace

TEST_CASE("a library that only a part of the wheel needs is named with the module that needs it") {
    const auto facts = facts_of([](WheelWriter& wheel) {
        wheel.add("six/__init__.py",
                  "from . import _base\ntry:\n    from . import _gui\nexcept ImportError:\n    pass\n");
        wheel.add("six/_base" + suffix, library("", {"libbase.so.1", "libgsl.so.27"}));
        wheel.add("six.libs/libbase.so.1", library("libbase.so.1", {"libpng16.so.16"}));
        wheel.add("six/_gui" + suffix, library("", {"libX11.so.6", "libplot.so.1"}));
        wheel.add("six/draw/__init__.py", "");
        wheel.add("six/draw/_draw" + suffix, library("", {"libplot.so.1", "libpng16.so.16"}));
        wheel.add("six.libs/libplot.so.1", library("libplot.so.1", {"libGL.so.1"}));
    });
    CHECK(facts.needed_later ==
          std::map<std::string, std::string>{{"libX11.so.6", "six._gui"}, {"libGL.so.1", "six._gui"}});
    CHECK(facts.needed_maybe.empty());
    CHECK(facts.needed_surely ==
          std::map<std::string, std::string>{{"libgsl.so.27", "six._base"}, {"libpng16.so.16", "six._base"}});
}

TEST_CASE("an extension module beside one that is reached may be loaded by it") {
    const auto facts = facts_of([](WheelWriter& wheel) {
        wheel.add("six/__init__.py", "from six import _base\n");
        wheel.add("six/_base" + suffix, library("", {}));
        wheel.add("six/_other" + suffix, library("", {"libgsl.so.27"}));
    });
    CHECK(facts.needed_maybe == std::map<std::string, std::string>{{"libgsl.so.27", "six._other"}});
    CHECK(facts.needed_later.empty());
}

TEST_CASE("where Python code opens libraries, no library is needed for certain, nor by a part alone") {
    for (const auto& [source, is_open] : {std::pair("import ctypes\nctypes.CDLL(PATH)\n", true),
                                          std::pair("def load():\n    return ffi.dlopen('libx.so')\n", true),
                                          std::pair("import ctypes\n", false)}) {
        CAPTURE(source);
        const auto facts = facts_of([&, text = std::string(source)](WheelWriter& wheel) {
            wheel.add("six/__init__.py", text + "from . import _base\n");
            wheel.add("six/_base" + suffix, library("", {"libbase.so.1"}));
            wheel.add("six/libsix.so", library("libsix.so", {"libgsl.so.27"}));
        });
        using Needs = std::map<std::string, std::string>;
        const Needs base{{"libbase.so.1", "six._base"}}, gsl{{"libgsl.so.27", "six/libsix.so"}};
        CHECK(facts.needed_surely == (is_open ? Needs() : base));
        CHECK(facts.needed_later == (is_open ? Needs() : gsl));
        CHECK(facts.needed_maybe.size() == (is_open ? 2 : 0));
    }
}

TEST_CASE(
    "the C functions of PyPy that the import needs are a fact, without those that the wheel has itself") {
    const auto module = [](const std::vector<std::string>& imports, const std::vector<std::string>& exports) {
        ElfImage image;
        image.imports = imports;
        image.weak_imports = {"PyPyWeak_Name"};
        image.exports = exports;
        return write_elf(image);
    };
    const auto facts = facts_of([&](WheelWriter& wheel) {
        wheel.tag("pp311-pypy311_pp73-linux_x86_64");
        wheel.add("six/__init__.py", "from six import _base, own\n").add("six/later/__init__.py", "");
        const std::string pypy = ".pypy311-pp73-x86_64-linux-gnu.so";
        wheel.add("six/_base" + pypy,
                  module({"PyPyList_New", "_PyPy_Dealloc", "PyPyOwn_Name", "malloc"}, {}));
        wheel.add("six/own" + pypy, module({"PyPyList_New"}, {"PyPyOwn_Name"}));
        wheel.add("six/later/_part" + pypy, module({"PyPyModule_FromDefAndSpec2"}, {}));
    });
    using Names = std::map<std::string, std::vector<std::string>>;
    CHECK(facts.pypy_names == Names{{"six._base", {"PyPyList_New", "_PyPy_Dealloc"}}});
    CHECK(facts.pypy_later == Names{{"six.later._part", {"PyPyModule_FromDefAndSpec2"}}});
}

TEST_CASE("what the import may load and asks for an executable stack is a fact") {
    const auto stack = [](const std::string& init) {
        return facts_of([&](WheelWriter& wheel) {
                   ElfImage image;
                   image.executable_stack = true;
                   image.soname = "libstack.so.1";
                   wheel.add("six/__init__.py", "from . import b\n" + init).add("six/b.py", "");
                   wheel.add("six/_base" + suffix, library("", {"libstack.so.1"}));
                   wheel.add("six.libs/libstack.so.1", write_elf(image));
               })
            .executable_stack;
    };
    CHECK(stack("from . import _base\n") == "six.libs/libstack.so.1");
    CHECK(stack("if b:\n    from . import _base\n") == "six.libs/libstack.so.1");
    CHECK(stack("try:\n    from . import _base\nexcept ImportError:\n    pass\n").empty());
}

TEST_CASE("a module of another project is a fact where nothing that is required can bring it") {
    const auto gone = [](const std::vector<std::string>& required) {
        return facts_of([&](WheelWriter& wheel) {
                   wheel.add("six.py", "import botocore, typing_extensions\n");
                   for (const std::string& text : required)
                       wheel.metadata_line("Requires-Dist: " + text);
               })
            .sure_imports;
    };
    using Names = std::map<std::string, std::string>;
    CHECK(gone({}) == Names{{"botocore", "six"}, {"typing_extensions", "six"}});
    CHECK(gone({"typing-extensions; python_version < '3.12'"}) == Names{{"botocore", "six"}});
    CHECK(gone({"typing-extensions", "boto3; extra == 'full'"}) == Names{{"botocore", "six"}});
    CHECK(gone({"boto3"}).empty());
    // What is left over beside a package is not imported.
    CHECK(facts_of([](WheelWriter& wheel) {
              wheel.add("_build.py", "import setuptools\n").add("other.py", "");
          }).sure_imports.empty());
}

TEST_CASE(
    "what the import lacks is a fact, also of modules in a .data folder; what is beside the project is not "
    "imported") {
    const auto facts = facts_of([](WheelWriter& wheel) {
        wheel.add("six-1.16.0.data/purelib/six.py", "import ctypes, cgi\n");
        wheel.add("other.py", "import imp\n");
    });
    CHECK(facts.sure_imports == std::map<std::string, std::string>{{"cgi", "six"}});
}
