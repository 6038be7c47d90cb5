// Finding the programs behind the shims.
#include "builder/governor/launch/shims.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "lib/base/file.hpp"
#include "lib/base/temp_dir.hpp"

using namespace wheelyard::governor;

namespace fs = std::filesystem;

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
