#include "indexer/avail_wheels/node/python.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

void install(const std::filesystem::path& program, std::string_view text = "#!") {
    std::filesystem::create_directories(program.parent_path());
    REQUIRE(base::replace_file(program, text, 0755));
}

struct Venv {
    base::TempDir folder = *base::TempDir::make("wheelyard-venv-test");

    void config(std::string_view text) const {
        REQUIRE(base::replace_file(folder.path() / "pyvenv.cfg", text));
    }
    void library(const char* name) const {
        std::filesystem::create_directories(folder.path() / "lib" / name);
    }
    // The environment is active: its Python is the first on PATH.
    std::optional<Python> python(std::map<std::string, std::string> environment = {}) const {
        install(folder.path() / "bin" / "python");
        environment["VIRTUAL_ENV"] = folder.path().native();
        environment["PATH"] = (folder.path() / "bin").native() + ":/usr/bin";
        return python_of_shell(environment);
    }
};

}  // namespace

TEST_CASE("a Python version is parsed in all common spellings") {
    struct Case {
        const char* text;
        Python python;
    };
    for (const auto& [text, python] :
         {Case{"3.11", {11, false, ""}}, Case{"3.9", {9, false, ""}}, Case{"3.11.4", {11, false, "3.11.4"}},
          Case{"cp312", {12, false, ""}}, Case{"39", {9, false, ""}}, Case{"3.13t", {13, true, ""}},
          Case{"cp313t", {13, true, ""}}, Case{"pp310", {10, false, "", true}},
          Case{"pypy3.10.14", {10, false, "3.10.14", true}}, Case{"3.14.0rc1", {14, false, "3.14.0rc1"}}}) {
        CAPTURE(text);
        const auto parsed = parse_python(text);
        REQUIRE(parsed);
        CHECK(*parsed == python);
    }
    CHECK(parse_python("3.13.1t")->text() == "3.13t");
}

TEST_CASE("other texts are rejected as Python 3 versions") {
    for (const char* text : {"", "3", "3.", "2.7", "4.0", "311.4", "3.x", "3.11.", "3.11.x", "numpy", "3.100",
                             "cp", "pp", "pypy", "pp313t", "-3.11", "3.11 "}) {
        CAPTURE(text);
        const auto parsed = parse_python(text);
        REQUIRE(!parsed);
        CHECK(parsed.error().code == "python.invalid");
    }
}

TEST_CASE("the Python version is read from pyvenv.cfg of every tool") {
    for (const char* line : {"version = 3.11.2\n", "version_info = 3.11.2\n",
                             "version_info = 3.11.2.final.0\n", "home = /usr/bin\nversion=3.11.2"}) {
        CAPTURE(line);
        const Venv venv;
        venv.config(line);
        REQUIRE(venv.python());
        CHECK(*venv.python() == Python{11, false, "3.11.2"});
    }
}

TEST_CASE("without a version there, the library folder is used; it also shows a free-threaded Python") {
    const Venv venv;
    venv.library("python3.13t");
    REQUIRE(venv.python());
    CHECK(*venv.python() == Python{13, true, ""});
    venv.config("version = 3.13.0\n");
    CHECK(*venv.python() == Python{13, true, "3.13.0"});
}

TEST_CASE("a virtual environment takes precedence over a module") {
    const Venv venv;
    venv.config("version = 3.11.2\n");
    CHECK(venv.python({{"EBVERSIONPYTHON", "3.12.4"}})->minor == 11);
    CHECK(*python_of_shell({{"EBVERSIONPYTHON", "3.12.4"}}) == Python{12, false, "3.12.4"});
    CHECK(*python_of_shell({{"CONDA_PREFIX", "/nowhere"}, {"EBVERSIONPYTHON", "3.10.2"}}) ==
          Python{10, false, "3.10.2"});
    CHECK(!python_of_shell({}));
    CHECK(!python_of_shell({{"EBVERSIONPYTHON", "2.7.18"}}));
}

TEST_CASE("an environment or a module counts only if its Python is the first on PATH") {
    const Venv venv;
    venv.config("version = 3.11.2\n");
    install(venv.folder.path() / "bin" / "python");
    const auto other = (venv.folder.path() / "other").native();
    install(other + "/bin/python3");
    const auto bin = (venv.folder.path() / "bin").native();
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        CAPTURE(name);
        CHECK(python_of_shell({{name, venv.folder.path().native()}, {"PATH", bin + ":" + other + "/bin"}}));
        CHECK_FALSE(python_of_shell({{name, venv.folder.path().native()}, {"PATH", other + "/bin:" + bin}}));
    }
    CHECK(
        python_of_shell({{"EBVERSIONPYTHON", "3.12.4"}, {"EBROOTPYTHON", other}, {"PATH", other + "/bin"}}));
    CHECK_FALSE(python_of_shell(
        {{"EBVERSIONPYTHON", "3.12.4"}, {"EBROOTPYTHON", other}, {"PATH", bin + ":" + other + "/bin"}}));
}

TEST_CASE("the Python is the one that a plain pip installs for") {
    const Venv venv;
    const auto folder = venv.folder.path().native();
    install(folder + "/a/bin/python3");
    install(folder + "/b/bin/python3.12");
    install(folder + "/b/bin/python3");
    install(folder + "/b/bin/bash");
    const std::string path = folder + "/a/bin:" + folder + "/b/bin";
    CHECK(python_of_pip({{"PATH", path}}) == folder + "/a/bin/python3");
    CHECK(python_of_pip({{"PATH", "/nowhere"}}).empty());
    struct Case {
        std::string script;
        std::string python;
    };
    for (const auto& [script, python] : {
             Case{"#!" + folder + "/b/bin/python3.12\nimport pip", folder + "/b/bin/python3.12"},
             Case{"#!" + folder + "/b/bin/python3.12 -I\nimport pip", folder + "/b/bin/python3.12"},
             Case{"#!/bin/sh\n'''exec' \"" + folder + "/b/bin/python3.12\" \"$0\" \"$@\"\n' '''\n",
                  folder + "/b/bin/python3.12"},
             Case{"#!/usr/bin/env python3\nimport pip", folder + "/a/bin/python3"},
             Case{"#!/usr/bin/env bash\nexec pyenv pip", folder + "/a/bin/python3"},
             // It installs for no other Python.
             Case{"#!/nowhere/python3\n", "/nowhere/python3"},
             Case{"#!/nowhere/python3", "/nowhere/python3"},
             Case{"", folder + "/a/bin/python3"},
         }) {
        CAPTURE(script);
        install(folder + "/b/bin/pip", script);
        CHECK(python_of_pip({{"PATH", path}}) == python);
    }
    // An environment without pip, as uv makes it, still is the one that is meant.
    install(folder + "/b/bin/pip", "#!" + folder + "/b/bin/python3.12\n");
    CHECK(python_of_pip({{"PATH", path}, {"VIRTUAL_ENV", folder + "/a"}}) == folder + "/a/bin/python3");
}

TEST_CASE("an environment that has lost its Python is not replaced by the next Python on PATH") {
    const Venv venv;
    const auto folder = venv.folder.path().native();
    install(folder + "/system/bin/python3");
    std::filesystem::create_directories(folder + "/env/bin");
    std::filesystem::create_symlink("/nowhere/python3.9", folder + "/env/bin/python3");
    const std::string path = folder + "/env/bin:" + folder + "/system/bin";
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX", "EBROOTPYTHON"}) {
        CAPTURE(name);
        CHECK(python_of_pip({{"PATH", path}, {name, folder + "/env"}}) == folder + "/env/bin/python3");
    }
    // Without an active environment the shell goes on, too.
    CHECK(python_of_pip({{"PATH", path}}) == folder + "/system/bin/python3");
    // A Conda environment may have no Python; a virtual one always had.
    const std::string empty = folder + "/gone/bin:" + folder + "/system/bin";
    CHECK(python_of_pip({{"PATH", empty}, {"VIRTUAL_ENV", folder + "/gone"}}) == folder + "/gone/bin/python");
    CHECK(python_of_pip({{"PATH", empty}, {"CONDA_PREFIX", folder + "/gone"}}) ==
          folder + "/system/bin/python3");
}
