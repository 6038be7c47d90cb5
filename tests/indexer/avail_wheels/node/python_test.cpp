#include "indexer/avail_wheels/node/python.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "lib/base/file.hpp"
#include "lib/base/temp_dir.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

struct Venv {
    base::TempDir folder = *base::TempDir::make("wheelyard-venv-test");

    void config(std::string_view text) const {
        REQUIRE(base::replace_file(folder.path() / "pyvenv.cfg", text));
    }
    void library(const char* name) const {
        std::filesystem::create_directories(folder.path() / "lib" / name);
    }
    std::optional<Python> python(std::map<std::string, std::string> environment = {}) const {
        environment["VIRTUAL_ENV"] = folder.path().native();
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
          Case{"cp313t", {13, true, ""}}, Case{"3.14.0rc1", {14, false, "3.14.0rc1"}}}) {
        CAPTURE(text);
        const auto parsed = parse_python(text);
        REQUIRE(parsed);
        CHECK(*parsed == python);
    }
    CHECK(parse_python("3.13.1t")->text() == "3.13t");
}

TEST_CASE("other texts are rejected as Python 3 versions") {
    for (const char* text : {"", "3", "3.", "2.7", "4.0", "311.4", "3.x", "3.11.", "3.11.x", "numpy", "3.100",
                             "cp", "-3.11", "3.11 "}) {
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
    CHECK(*python_of_shell({{"VIRTUAL_ENV", "/nowhere"}, {"EBVERSIONPYTHON", "3.10.2"}}) ==
          Python{10, false, "3.10.2"});
    CHECK(!python_of_shell({}));
    CHECK(!python_of_shell({{"EBVERSIONPYTHON", "2.7.18"}}));
}
