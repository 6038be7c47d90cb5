#include "builder/site/python.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

constexpr const char* answer =
    R"({"implementation":"cpython","major":3,"minor":13,"full_version":"3.13.1","prefix":"/py",
    "machine":"aarch64","libc":"glibc 2.36","free_threaded":true})";

TEST_CASE("parse_python derives the tags from the probe's output") {
    const auto python = parse_python(answer, {"3.13", "/py/bin/python3.13"});
    REQUIRE_MESSAGE(python.has_value(), python.error().text());
    CHECK(python->tag() == "cp313t");
    CHECK(python->environment.glibc_minor == 36);
    CHECK(python->environment.machine == "aarch64");
    CHECK(wheel::best_position({{"cp313", "cp313t", "manylinux_2_36_aarch64"}}, python->tags).has_value());
    CHECK(!wheel::best_position({{"cp313", "cp313t", "manylinux_2_37_aarch64"}}, python->tags).has_value());
    CHECK(!wheel::best_position({{"cp312", "cp312", "linux_aarch64"}}, python->tags).has_value());
}

// A Python that lets through what `refused`, a condition of sh, does not.
fs::path python_without(const char* refused, const fs::path& folder) {
    const auto python = folder / "python3";
    REQUIRE(base::replace_file(python,
                               std::string("#!/bin/sh\nif ") + refused +
                                   "; then echo refused >&2; exit 1; fi\nexec " +
                                   base::quote_shell(base::find_program("python3")->string()) + " \"$@\"\n",
                               0755)
                .has_value());
    return python;
}

TEST_CASE("ask_default_index asks the pip of a venv, which it makes only where that cannot run without one") {
    const auto real = base::find_program("python3");
    REQUIRE(real.has_value());
    Python python;
    python.executable = *real;
    const auto expected = ask_default_index(python);
    REQUIRE_MESSAGE(expected.has_value(), expected.error().text());
    for (const char* refused :
         {"[ \"$2\" = pip ] || [ \"$3\" = venv ]", "[ \"$2\" = pip ] || [ \"$2\" = -c ]"}) {
        CAPTURE(refused);
        const auto folder = base::TempDir::make("python-test").value();
        python.executable = python_without(refused, folder.path());
        const auto index = ask_default_index(python);
        REQUIRE_MESSAGE(index.has_value(), index.error().text());
        CHECK(*index == *expected);
    }
}

TEST_CASE("a version other than the site's is an error that names both versions") {
    const auto python = parse_python(answer, {"3.12", "/py/bin/python3.12"});
    REQUIRE(!python.has_value());
    CHECK(python.error().code == "python.other_version");
    CHECK(python.error().sentence == "The interpreter for Python 3.12 is Python 3.13");
}

TEST_CASE("invalid probe output is rejected") {
    for (const char* text :
         {"", "{}", "not json", R"({"major":"3","minor":13,"full_version":"x","prefix":"/"})"}) {
        CAPTURE(text);
        const auto python = parse_python(text, {"3.13", "python"});
        REQUIRE(!python.has_value());
        CHECK(python.error().code == "python.broken");
    }
}

TEST_CASE("the error for a missing interpreter gives advice") {
    const auto python = probe_python({"3.99", "python3.99-that-nobody-has"});
    REQUIRE(!python.has_value());
    CHECK(python.error().code == "python.missing");
    CHECK(!python.error().advice.empty());
}

TEST_CASE("probe_python reads a real interpreter") {
    const auto path = base::find_program("python3");
    REQUIRE(path.has_value());
    base::Command command;
    command.argv = {path->string(), "-c", "import sys; print('%d.%d' % sys.version_info[:2], end='')"};
    const auto version = base::run_command(command);
    REQUIRE(version.has_value());
    const auto python = probe_python({version->out, "python3"});
    REQUIRE_MESSAGE(python.has_value(), python.error().text());
    CHECK(python->full_version.starts_with(version->out + "."));
    CHECK(python->executable == *path);
    CHECK(!python->environment.machine.empty());
}

}  // namespace
}  // namespace wheelyard::builder
