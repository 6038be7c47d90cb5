// The properties of a node that matter to wheels: machine, glibc, processor level, GPUs and driver, Pythons
// and loaded modules. An absent property is unknown; it never counts as missing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/node/python.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/dotted.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::avail_wheels {

using accelerator::Gpus;
using base::Dotted;

// What the dynamic loader finds in the Python's process under one name.
struct Library {
    std::string path = {};  // empty: it is not there
    // The highest version of each prefix that it has: {"GLIBCXX", 3.4.30}. Only of GCC's libraries and zlib.
    std::map<std::string, Dotted, std::less<>> versions = {};
    std::string lacks =
        {};  // a library that it needs, or one of those does, and that is not there; empty: none
};

// The torch of the Python (node_probe.hpp).
struct InstalledTorch {
    std::string version;  // "2.6.0+cu124"
    std::string folder;   // "/opt/venv/lib/python3.11/site-packages/torch"
    std::map<std::string, std::string, std::less<>> toolkits = {};  // by the kind's name: {"cuda", "12.4"}
    std::string cxx11_abi = {};                                     // "true", "false"; empty: unknown
    std::set<std::string> libraries = {};                           // names of its files; empty: unknown
};

struct Node {
    std::string name;                      // of a node type, or this host's name
    std::string machine;                   // "aarch64"
    std::optional<Dotted> glibc;           // of its Python, 2.36; absent: unknown, or musl
    std::optional<Dotted> musl;            // 1.2
    bool gives_executable_stacks = false;  // its environment asks glibc for them
    std::string cpu;                       // "x86-64-v3", "armv8-a+sve"; empty: unknown
    std::optional<Gpus> gpus;              // absent: unknown
    std::optional<Dotted> driver;          // NVIDIA's, 550.54.15
    std::vector<Python> pythons;           // empty: unknown
    bool any_python = false;               // every Python is asked about, not this node's
    std::string python_program;            // path of the Python that was found
    std::string python_fault = {};         // why that one does not answer: "is not there"; empty: it does
    std::string interpreter = {};          // the program that runs behind python_program; empty: unknown
    // Where that looks for modules, in its order, without PYTHONPATH; empty: unknown.
    std::vector<std::string> module_folders = {};
    // By the names that were asked; those with a folder are files. Others are unknown.
    std::map<std::string, Library, std::less<>> libraries = {};
    // Says whether the folders of its standard library and packages have these modules; others are unknown.
    std::map<std::string, bool, std::less<>> found_modules = {};
    // Says whether its PyPy has these C functions; others are unknown.
    std::map<std::string, bool, std::less<>> found_functions = {};
    std::optional<InstalledTorch> torch = {};  // absent: there is none, or nobody asked
    bool is_described = false;  // from the site file or --assume: its libraries cannot be asked
    std::optional<std::vector<std::string>> modules;  // "cuda/12.2"; absent: unknown, no module system
};

// The highest x86-64 level (x86-64 psABI) whose features `flags` (of /proc/cpuinfo) has: "x86-64-v3".
[[nodiscard]] std::string x86_level(std::string_view flags);
// Of /proc/cpuinfo's `Features`; empty: none are there. In the order of what they can run, as the levels are.
inline constexpr std::string_view arm_without_sve = "armv8-a", arm_with_sve = "armv8-a+sve";
[[nodiscard]] std::string arm_level(std::string_view features);
// The level that an architecture folder of a wheelhouse requires: "avx2" → "x86-64-v3"; empty: none.
[[nodiscard]] std::string level_of_folder(std::string_view folder);

// "wheelyard.node/1", also used in the cache. Unknown properties are omitted.
[[nodiscard]] io::Json node_to_json(const Node& node);
[[nodiscard]] Node node_from_json(const io::Json& json);

}  // namespace wheelyard::avail_wheels
