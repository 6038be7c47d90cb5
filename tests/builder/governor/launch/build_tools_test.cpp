// Which calls of ninja and make get a -j and which stay unchanged.
#include "builder/governor/launch/shims.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "lib/base/text/text.hpp"

using namespace wheelyard::governor;

namespace {

std::vector<std::string> words(std::string_view line) {
    std::vector<std::string> found;
    if (line.empty()) return found;
    for (const auto word : wheelyard::base::split(line, ' '))
        found.emplace_back(word);
    return found;
}

}  // namespace

TEST_CASE("ninja gets the window where it builds and no -j is given") {
    for (const char* line : {"", "all", "-C build", "-C j", "-v", "-k0", "-k 0 all", "-d explain", "-l 4",
                             "-f x.ninja -n", "-w dupbuild=warn", "-- -j4", "--verbose", "--quiet t"}) {
        CAPTURE(line);
        CHECK(jobs_for_ninja(words(line)) == Jobs::window);
    }
    for (const char* line :
         {"-j4", "-j 4", "-vj4", "-C build -j1", "-t commands", "-tclean", "-t compdb cxx", "-vt query x",
          "-C build -t targets all", "-h", "--help", "--version", "-C x --version", "all -j2"}) {
        CAPTURE(line);
        CHECK(jobs_for_ninja(words(line)) == Jobs::as_given);
    }
}

TEST_CASE("make gets the window unless its arguments or MAKEFLAGS give a -j") {
    for (const char* line : {"", "all", "-C j", "-f jobs.mk", "-kC sub", "-l4", "-Otarget", "CC=gcc -k",
                             "--directory=j", "-I j -s", "-- -j4"}) {
        CAPTURE(line);
        CHECK(jobs_for_make(words(line), {}) == Jobs::window);
    }
    for (const char* line :
         {"-j", "-j4", "-j 4", "-kj4", "--jobs", "--jobs=4", "-C sub -j1", "-v", "--version", "-n", "-q",
          "-p", "-h", "--dry-run", "all -j2", "clean all", "clean CC=gcc -- install"}) {
        CAPTURE(line);
        CHECK(jobs_for_make(words(line), {}) == Jobs::as_given);
    }
    for (const char* flags : {"", "k", "ks", " --no-print-directory", "w -- CC=gcc\\ -j4", "CFLAGS=-j4"}) {
        CAPTURE(flags);
        CHECK(jobs_for_make({}, {flags, false, false}) == Jobs::window);
    }
    for (const char* flags : {"-j4", "j4", "kj", " -j4", "k -j1", "--jobs=3"}) {
        CAPTURE(flags);
        CHECK(jobs_for_make({}, {flags, false, false}) == Jobs::as_given);
    }
}

TEST_CASE("a make below another shares its jobserver; one that cannot because of our -j gets a small -j") {
    for (const char* flags : {" -j512 --jobserver-auth=3,4", "ks -j512 --jobserver-auth=3,4 -- A=b",
                              " --jobserver-fds=3,4 -j", " -j4 --jobserver-auth=fifo:/tmp/GMfifo1"}) {
        CAPTURE(flags);
        CHECK(jobs_for_make({}, {flags, true, true}) == Jobs::as_given);
        CHECK(jobs_for_make({}, {flags, true, false}) == Jobs::few);
        CHECK(jobs_for_make({}, {flags, false, false}) == Jobs::as_given);  // the user's -j
        CHECK(jobs_for_make({"-j2"}, {flags, true, false}) == Jobs::as_given);
        CHECK(jobs_for_make({"clean", "all"}, {flags, true, false}) == Jobs::one);
        CHECK(jobs_for_make({"clean", "all"}, {flags, true, true}) == Jobs::as_given);
    }
}

TEST_CASE("the jobserver is found in MAKEFLAGS and can be removed from it") {
    struct Row {
        const char *flags, *jobserver, *without;
    };
    for (const auto& [flags, jobserver, without] : {
             Row{"", "", ""},
             Row{"ks", "", "ks"},
             Row{" -j512 --jobserver-auth=3,4", "3,4", ""},
             Row{"k -j512 --jobserver-auth=3,4 --no-print-directory", "3,4", "k --no-print-directory"},
             Row{" --jobserver-fds=5,6 -j", "5,6", ""},
             Row{" -j4 --jobserver-auth=fifo:/t/f", "fifo:/t/f", ""},
             Row{"s --jobserver-auth=3,4 -- X=-j4 Y=a\\ \\ b", "3,4", "s -- X=-j4 Y=a\\ \\ b"},
         }) {
        CAPTURE(flags);
        CHECK(jobserver_of(flags) == jobserver);
        CHECK(without_jobserver(flags) == without);
    }
}

TEST_CASE("the number of a given -j is read as ninja and make read it") {
    struct Row {
        bool of_ninja;
        const char* line;
        std::optional<unsigned> jobs;
    };
    for (const auto& row : {
             Row{true, "-j4", 4},
             Row{true, "-vj 3 all", 3},
             Row{true, "-j4 -C j -j 16", 16},
             Row{true, "", std::nullopt},
             Row{true, "-C j", std::nullopt},
             Row{true, "-j4 -t clean", std::nullopt},
             Row{true, "--version -j4", std::nullopt},
             Row{false, "-kj8 all", 8},
             Row{false, "-j 8 CC=gcc", 8},
             Row{false, "-j", 0},
             Row{false, "-j all", 0},
             Row{false, "--jobs=12", 12},
             Row{false, "--jobs", 0},
             Row{false, "-n -j4", std::nullopt},
             Row{false, "-- -j4", std::nullopt},
         }) {
        CAPTURE(row.line);
        CHECK(given_jobs(row.of_ninja, words(row.line)) == row.jobs);
    }
}
