// Which compiles the broker reads by itself, and which their launchers have to.
#include "builder/governor/launch/plain_compile.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "builder/governor/launch/shims.hpp"
#include "lib/base/file.hpp"
#include "lib/base/temp_dir.hpp"

using namespace wheelyard::governor;

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

// Links of ours, a compiler and what may stand before one.
struct Tools {
    wheelyard::base::TempDir folder;
    std::string root, links, real, path;

    static Tools make() {
        auto made = wheelyard::base::TempDir::make("plain-compile");
        REQUIRE(made);
        Tools tools{std::move(*made), "", "", "", ""};
        tools.root = tools.folder.path().string();
        tools.links = tools.root + "/links";
        tools.real = tools.root + "/real";
        tools.path = tools.links + ":" + tools.real;
        fs::create_directory(tools.links);
        fs::create_directory(tools.real);
        for (const char* program : {"/g++", "/ccache", "/ccache-4.8", "/distcc", "/ninja", "/gmake"}) {
            REQUIRE(wheelyard::base::replace_file(tools.real + program, "#!/bin/sh\n"));
            REQUIRE(::chmod((tools.real + program).c_str(), 0755) == 0);
            fs::create_symlink(own_program(), tools.links + program);
        }
        for (const char* masked : {"ccache", "ccache-4.8", "distcc"}) {
            fs::create_directory(tools.root + "/" + masked + "-links");
            fs::create_symlink(tools.real + "/" + masked, tools.root + "/" + masked + "-links/g++");
        }
        return tools;
    }

    [[nodiscard]] std::optional<PlainCompile> read(const Words& words) const { return read(words, path); }
    [[nodiscard]] std::optional<PlainCompile> read(const Words& words, const std::string& search) const {
        return read_plain_compile(words, search, links, root);
    }
};

}  // namespace

TEST_CASE(
    "a compiler by its path, by its name, or by our link: what is to run, and the facts of the launcher's "
    "own reading") {
    const auto tools = Tools::make();
    for (const std::string& called : {tools.real + "/g++", std::string("g++"), tools.links + "/g++"}) {
        CAPTURE(called);
        const auto plain = tools.read({called, "-O2", "-c", tools.root + "/a b.cpp", "-o", "a.o"});
        REQUIRE(plain);
        CHECK(plain->program == tools.real + "/g++");
        CHECK(plain->path == tools.real);
        CHECK(plain->facts.source == "a b.cpp");
        CHECK(plain->facts.language == "c++");
        CHECK(plain->facts.compiler.empty());
    }
    const auto link = tools.read({"g++", "a.o", "-o", "program"});
    REQUIRE(link);
    CHECK(link->facts.language == "link");
}

TEST_CASE("what needs more than its words is left to the launcher") {
    const auto tools = Tools::make();
    const std::string gxx = tools.real + "/g++";
    REQUIRE(tools.read({gxx, "-c", "a.cpp"}));
    for (const Words& words : {
             Words{},
             Words{gxx},  // a question
             Words{gxx, "--version"},
             Words{gxx, "-c", "-x", "c++", "-"},                 // from stdin
             Words{gxx, "@words", "-c", "a.cpp"},                // a response file
             Words{tools.real + "/ccache", gxx, "-c", "a.cpp"},  // a cache, a distributor
             Words{"ccache", gxx, "-c", "a.cpp"},
             Words{"distcc", gxx, "-c", "a.cpp"},
             Words{tools.real + "/ccache-4.8", gxx, "-c", "a.cpp"},
             Words{"./g++", "-c", "a.cpp"},  // where it is called says which
             Words{"tools/g++", "-c", "a.cpp"},
             Words{"clang++", "-c", "a.cpp"},  // not there
             Words{tools.real + "/clang++", "-c", "a.cpp"},
             Words{own_program(), "-c", "a.cpp"},     // we
             Words{tools.links + "/ninja", "a.cpp"},  // build tools
             Words{"gmake", "a.cpp"},
             Words{tools.links + "/ccache", tools.links + "/g++", "-c", "a.cpp"},
         }) {
        CAPTURE(words.size());
        if (!words.empty()) CAPTURE(words[0]);
        CHECK_FALSE(tools.read(words));
    }
    // A lone "@" names no file.
    CHECK(tools.read({gxx, "-c", "a.cpp", "-D", "@"}));
}

TEST_CASE(
    "a compiler's name behind which a cache or a distributor stands, and a PATH that depends on the folder") {
    const auto tools = Tools::make();
    for (const char* masked : {"ccache", "ccache-4.8", "distcc"}) {
        CAPTURE(masked);
        const std::string before = tools.root + "/" + masked + "-links";
        CHECK_FALSE(tools.read({"g++", "-c", "a.cpp"}, tools.links + ":" + before + ":" + tools.real));
        CHECK_FALSE(tools.read({before + "/g++", "-c", "a.cpp"}));
        CHECK_FALSE(
            tools.read({tools.links + "/g++", "-c", "a.cpp"}, tools.links + ":" + before + ":" + tools.real));
    }
    // The broker stands elsewhere: what it finds further on may not be what the launcher would.
    for (const char* before : {"", ".", "bin"}) {
        CAPTURE(before);
        const std::string depends = std::string(before) + ":" + tools.real;
        CHECK_FALSE(tools.read({"g++", "-c", "a.cpp"}, depends));
        CHECK_FALSE(tools.read({tools.links + "/g++", "-c", "a.cpp"}, tools.links + ":" + depends));
        CHECK(tools.read({tools.real + "/g++", "-c", "a.cpp"}, depends));
    }
}
