// A node for probes: files in a folder, and programs with canned output.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "indexer/avail_wheels/node/node_probe.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

// What an interpreter answers to ask_python.py.
struct PythonSays {
    std::string name = "cpython";
    std::string version;
    bool free_threaded = false;
    std::string libc = "glibc 2.36";
    std::string soabi = {};
    bool debug = false;
    std::string executable = {};
    std::vector<std::string> folders = {};
    [[nodiscard]] std::string text() const {
        return io::Json::object({{"name", name},
                                 {"version", version},
                                 {"free_threaded", free_threaded},
                                 {"libc", libc},
                                 {"soabi", soabi},
                                 {"debug", debug},
                                 {"executable", executable},
                                 {"folders", io::Json::array_of(folders)}})
                   .render() +
               "\n";
    }
};

// A root folder, and programs on PATH that record their calls and return canned output.
struct FakeNode {
    base::TempDir folder = *base::TempDir::make("wheelyard-node-test");
    EnvironmentMap environment{{"PATH", (folder.path() / "bin").native()},
                               {"XDG_CACHE_HOME", (folder.path() / "cache").native()}};
    std::map<std::string, std::string> answers;  // by program name
    std::vector<std::string> started;            // program names
    std::vector<std::string> asked;              // command lines
    base::ManualClock clock{1'000'000'000};
    std::string machine = "x86_64";
    std::string loader_says;  // on standard error, by musl's loader
    std::function<std::string(const std::vector<std::string>&)>
        traced;  // the loader's list with these preloaded

    void write(const fs::path& path, const std::string& text) const {
        fs::create_directories((folder.path() / "root" / path).parent_path());
        REQUIRE(base::replace_file(folder.path() / "root" / path, text));
    }
    void install(const std::string& name, const std::string& answer) {
        fs::create_directories(folder.path() / "bin");
        REQUIRE(base::replace_file(folder.path() / "bin" / name, "#!", 0755));
        answers[name] = answer;
    }
    HostProbe host() {
        return {folder.path() / "root", environment, "gh001", machine, [this](const base::Command& command) {
                    const auto name = fs::path(command.argv[0]).filename().string();
                    started.push_back(name);
                    auto words = command.argv;
                    words[0] = name;
                    asked.push_back(base::join(words, " "));
                    base::Finished finished;
                    finished.out = answers[name];
                    const auto environment_of = command.environment.value_or(EnvironmentMap());
                    if (const auto preload = environment_of.find("LD_PRELOAD");
                        traced && preload != environment_of.end()) {
                        std::vector<std::string> names;
                        for (const auto one : base::split(preload->second, ':'))
                            names.emplace_back(one);
                        finished.out = traced(names);
                    }
                    if (name.starts_with("ld-musl")) finished.err = loader_says;
                    finished.timed_out = answers[name] == "hangs";
                    return base::Result<base::Finished>(finished);
                }};
    }
    Node probe() { return probe_node(host()); }
    Node known() { return known_node(host(), clock); }
};

}  // namespace wheelyard::avail_wheels
