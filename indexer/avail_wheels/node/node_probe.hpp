// Detects the properties of this node: from /proc, /sys and files where possible, otherwise from the programs
// of GPUs (lib/accelerator) and the Python itself. The result is cached, so that the next call starts no
// process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/node/node.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/process.hpp"

namespace wheelyard::avail_wheels {

inline constexpr std::uint64_t max_library_bytes =
    64 * base::mib;                                        // libstdc++.so.6 with debug sections: 20 MiB
inline constexpr std::int64_t python_timeout_ms = 10'000;  // a cold start on a busy parallel file system
inline constexpr std::int64_t node_cache_s = 24 * 3600;    // a driver update requires a reboot

// All access to the host; tests substitute a folder and recorded command output.
struct HostProbe {
    std::filesystem::path root = "/";  // the parent of /proc, /sys and /lib
    EnvironmentMap environment;
    std::string host;
    std::string machine;  // uname -m
    std::function<base::Result<base::Finished>(const base::Command&)> run;
};
[[nodiscard]] HostProbe local_host_probe(EnvironmentMap environment);
[[nodiscard]] std::string variable(const HostProbe& probe, const std::string& name);  // empty: not set
// Files of /proc and /sys report size 0, so they are read to the end. Empty: does not exist.
[[nodiscard]] std::string read_host_file(const HostProbe& probe, const std::filesystem::path& path,
                                         std::uint64_t limit);
// The output of a program that ended well in time; otherwise empty.
[[nodiscard]] std::string output_of(const HostProbe& probe, std::vector<std::string> argv,
                                    std::int64_t timeout_ms);
// The key of caches differs after another boot, in another job and with another Python.
[[nodiscard]] std::string cache_key(const HostProbe& probe, const std::string& python);

// True if programs of this host run on musl: its loader exists and no glibc. Starts no process.
[[nodiscard]] bool is_musl_host(const HostProbe& probe);

// Never fails; undetected properties stay unknown.
[[nodiscard]] Node probe_node(const HostProbe& probe);
// Uses the cache if it is at most a day old and was written on this host, since its last boot, in this job
// and with this Python; otherwise probes and writes the cache. Modules are always those of the environment.
[[nodiscard]] Node known_node(const HostProbe& probe, const base::Clock& clock);

// Adds to node.found_modules which of these modules lie in the node's module folders as files:
// "distutils.version". Nothing is added where these are not those of the Python that is asked about.
void ask_modules(const HostProbe& probe, const std::vector<std::string>& names, Node& node);

// Adds to node.found_functions which of these C functions its PyPy has: "PyPyList_New". Nothing is added of
// another Python.
void ask_functions(const HostProbe& probe, const std::vector<std::string>& names, Node& node);

// $XDG_CACHE_HOME/wheelyard or ~/.cache/wheelyard; empty if neither variable is set.
[[nodiscard]] std::filesystem::path cache_folder(const EnvironmentMap& environment);

// Finds the text "… stable release version 2.36." in a libc.so.6.
[[nodiscard]] std::optional<Dotted> glibc_of_library(std::string_view bytes);

// Adds to node.libraries what the Python's process would load under these names: a library, searched for as
// the dynamic loader does it there (LD_LIBRARY_PATH, the interpreter's own paths, the system's), or a file
// with its folder, if the loader would take it; and what these lack. One process for all libraries and one
// for all files, a few more where one lacks something, none for what the cache has. Names stay unknown if the
// loader does not answer.
void ask_libraries(const HostProbe& probe, const base::Clock& clock, const std::vector<std::string>& names,
                   Node& node);

// The highest versions that GCC's libraries and zlib define, from the names in the library's bytes.
[[nodiscard]] std::map<std::string, Dotted, std::less<>> versions_of_library(std::string_view name,
                                                                             std::string_view bytes);

// In the folders of PYTHONPATH, then in node.module_folders. nullopt: there is none, or it cannot be read.
[[nodiscard]] std::optional<InstalledTorch> find_installed_torch(const HostProbe& probe, const Node& node);
// "true" or "false", as `torch_cxx11_abi` of the facts: by the constructor of c10::Error in the library's
// bytes. Empty: unknown.
[[nodiscard]] std::string strings_of_c10(std::string_view bytes);

}  // namespace wheelyard::avail_wheels
