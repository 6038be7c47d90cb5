// The way past the links, for caches that tell compilers apart by their files.
#include "builder/governor/shims.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "lib/base/file.hpp"
#include "lib/base/temp_dir.hpp"

using namespace wheelyard::governor;

namespace fs = std::filesystem;

TEST_CASE("compilers and caches that were found among the links are those further down PATH") {
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
        CHECK(past_shims(given, links, path) == meant);
    }
}
