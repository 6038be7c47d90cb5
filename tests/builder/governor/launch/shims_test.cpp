// Finding the programs behind the shims.
#include "builder/governor/launch/shims.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "tests/support/variable.hpp"

using namespace wheelyard::governor;
using wheelyard::test_support::Variable;

namespace fs = std::filesystem;

namespace {

void make_program(const std::string& path, mode_t mode = 0755) {
    REQUIRE(wheelyard::base::replace_file(path, "#!/bin/sh\n"));
    REQUIRE(::chmod(path.c_str(), mode) == 0);
}

}  // namespace

TEST_CASE("only this program, under any name, is skipped on PATH") {
    // On this program's file system, where all files have the same device number.
    const auto folder = wheelyard::base::TempDir::make("shims", fs::path(own_program()).parent_path());
    REQUIRE(folder);
    const std::string root = folder->path().string(), first = root + "/first", second = root + "/second";
    for (const auto& each : {first, second})
        fs::create_directory(each);
    fs::create_symlink(own_program(), first + "/g++");
    fs::create_hard_link(own_program(), first + "/c++");
    make_program(first + "/gcc", 0644);
    for (const char* name : {"/g++", "/c++", "/gcc"})
        make_program(second + name);
    for (const std::string name : {"g++", "c++", "gcc"}) {
        CAPTURE(name);
        CHECK(find_real(name, first + ":" + second) == second + "/" + name);
        CHECK_FALSE(find_real(name, first));
        CHECK_FALSE(find_real(first + "/" + name, second));
        CHECK(find_real(second + "/" + name, first) == second + "/" + name);
    }
}

TEST_CASE("the shim folder comes from its variable, else the names choose it in the folder of what is kept") {
    struct Row {
        const char *shims, *cache;
        std::string folder;
    };
    const auto made = wheelyard::base::TempDir::make("cache");
    REQUIRE(made);
    const std::string cache = made->path().string();
    for (const auto& row : {
             Row{"/s", cache.c_str(), "/s"},
             Row{"relative", cache.c_str(), "relative"},
             Row{"", cache.c_str(), cache + "/wheelyard/governor/shims"},
             Row{nullptr, cache.c_str(), cache + "/wheelyard/governor/shims"},
         }) {
        CAPTURE(row.folder);
        const Variable a("WHEELYARD_GOVERNOR_SHIMS", row.shims), b("XDG_CACHE_HOME", row.cache);
        const bool is_given = row.shims != nullptr && *row.shims != '\0';
        CHECK(shim_folder() == (is_given ? row.folder : ""));
        const fs::path chosen = shim_folder_of({"gcc"});
        CHECK((is_given ? chosen : chosen.parent_path()) == row.folder);
        CHECK((shim_folder_of({"g++", "gcc"}) == chosen) == is_given);
    }
}

TEST_CASE("a build with fewer programs on PATH gets no shim of another build") {
    const auto made = wheelyard::base::TempDir::make("shims");
    REQUIRE(made);
    const std::string root = made->path().string(), full = root + "/full", bare = root + "/bare";
    const Variable given("WHEELYARD_GOVERNOR_SHIMS", nullptr),
        cache("XDG_CACHE_HOME", (root + "/cache").c_str());
    for (const auto& each : {full, bare})
        fs::create_directory(each);
    for (const char* name : {"/x86_64-linux-gnu-gcc", "/make"})
        make_program(full + name);
    make_program(bare + "/make");
    for (const auto& path : {full, bare}) {
        const auto names = shimmed_names(path);
        REQUIRE(make_shims(shim_folder_of(names), names));
    }
    const std::string with = shim_folder_of(shimmed_names(full)),
                      without = shim_folder_of(shimmed_names(bare));
    CHECK(fs::is_symlink(with + "/x86_64-linux-gnu-gcc"));
    CHECK_FALSE(fs::is_symlink(without + "/x86_64-linux-gnu-gcc"));
    CHECK(fs::is_symlink(without + "/make"));
}

TEST_CASE(
    "shims are made for the executable compilers, caches and build tools on PATH, and for nothing else") {
    const auto folder = wheelyard::base::TempDir::make("shims");
    REQUIRE(folder);
    const std::string root = folder->path().string(), links = root + "/links", real = root + "/real";
    for (const auto& each : {links, real})
        fs::create_directory(each);
    for (const char* name : {"g++", "gcc-12", "ccache", "distcc", "ninja", "make", "cat"})
        make_program(real + "/" + name);
    make_program(real + "/clang", 0644);                    // not executable
    fs::create_symlink(own_program(), real + "/nvcc");      // this program itself
    fs::create_symlink(root + "/gone", links + "/gcc-12");  // of an older installation
    REQUIRE(make_shims(links, shimmed_names(links + "::" + real + ":" + root + "/absent")));
    std::vector<std::string> made;
    for (const auto& entry : fs::directory_iterator(links)) {
        CHECK(fs::read_symlink(entry.path()) == own_program());
        made.push_back(entry.path().filename().string());
    }
    std::sort(made.begin(), made.end());
    CHECK(made == std::vector<std::string>{"ccache", "distcc", "g++", "gcc-12", "make", "ninja"});
}

TEST_CASE("shims in a command are replaced by the next programs of that name on PATH") {
    const auto folder = wheelyard::base::TempDir::make("shims");
    REQUIRE(folder);
    const std::string root = folder->path().string(), links = root + "/links", real = root + "/real",
                      masquerade = root + "/masquerade";
    for (const auto& each : {links, real, masquerade})
        fs::create_directory(each);
    for (const auto& program : {real + "/g++", real + "/ccache"}) {
        REQUIRE(wheelyard::base::replace_file(program, "#!/bin/sh\n"));
        REQUIRE(::chmod(program.c_str(), 0755) == 0);
    }
    for (const char* name : {"/g++", "/ccache"})
        fs::create_symlink(own_program(), links + name);
    fs::create_symlink(real + "/ccache", masquerade + "/g++");
    const std::string path = links + ":" + masquerade + ":" + real;
    using Words = std::vector<std::string>;
    struct Row {
        Words given, meant;
    };
    for (const auto& [given, meant] : {
             Row{{links + "/g++", "-c", "a.cpp"}, {masquerade + "/g++", "-c", "a.cpp"}},
             Row{{links + "/ccache", links + "/g++", "-c"}, {real + "/ccache", real + "/g++", "-c"}},
             Row{{"ccache", links + "/g++", links + "/g++"}, {"ccache", real + "/g++", links + "/g++"}},
             Row{{real + "/ccache", own_program(), "launch", "--", links + "/g++", "-c"},
                 {real + "/ccache", real + "/g++", "-c"}},
             Row{{"g++", links + "/g++"}, {"g++", links + "/g++"}},
             Row{{links + "/nvcc", "-c"}, {links + "/nvcc", "-c"}},
             Row{{"ccache"}, {"ccache"}},
             Row{{}, {}},
         }) {
        CAPTURE(given.size());
        CHECK(bypass_shims(given, links, path) == meant);
    }
}

TEST_CASE("masquerade folders of a wrapper that the command names are skipped; distributors are found") {
    const auto folder = wheelyard::base::TempDir::make("shims");
    REQUIRE(folder);
    const std::string root = folder->path().string(), links = root + "/links", real = root + "/real",
                      cc = root + "/ccache-g++", dist = root + "/distcc-g++";
    for (const auto& each : {links, real, cc, dist})
        fs::create_directory(each);
    for (const char* program : {"/g++", "/ccache", "/distcc"}) {
        REQUIRE(wheelyard::base::replace_file(real + program, "#!/bin/sh\n"));
        REQUIRE(::chmod((real + program).c_str(), 0755) == 0);
        fs::create_symlink(own_program(), links + program);
    }
    fs::create_symlink(real + "/ccache", cc + "/g++");
    fs::create_symlink(real + "/distcc", dist + "/g++");
    struct Row {
        std::string path, before, meant;  // PATH, the wrapper in the command, the folder of the g++ that runs
    };
    const std::string both = links + ":" + cc + ":" + dist + ":" + real,
                      turned = links + ":" + dist + ":" + cc + ":" + real;
    for (const auto& [path, before, meant] :
         {Row{both, "ccache", dist}, Row{turned, "ccache", dist}, Row{both, "distcc", cc},
          Row{turned, "distcc", cc}, Row{links + ":" + dist + ":" + real, "distcc", real}}) {
        CAPTURE(path);
        CAPTURE(before);
        CHECK(bypass_shims({before, links + "/g++", "-c"}, links, path)[1] == meant + "/g++");
    }
    CHECK(bypass_shims({"ccache", "distcc", links + "/g++", "-c"}, links, both)[2] == real + "/g++");

    const std::string distcc = fs::canonical(real + "/distcc");
    CHECK(masquerading_distributor("g++", dist + ":" + real) == distcc);
    CHECK(masquerading_distributor("g++", cc + ":" + dist + ":" + real) == distcc);
    CHECK(masquerading_distributor(cc + "/g++", cc + ":" + dist + ":" + real) == distcc);
    CHECK(masquerading_distributor(cc + "/g++", dist + ":" + real) == distcc);
    CHECK(masquerading_distributor(real + "/g++", cc + ":" + dist + ":" + real).empty());
    CHECK(masquerading_distributor("g++", cc + ":" + real).empty());
    CHECK(masquerading_distributor("g++", cc).empty());
    CHECK(masquerading_distributor("g++", "").empty());
}
