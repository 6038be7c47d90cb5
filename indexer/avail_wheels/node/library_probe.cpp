// Asks the loader for a list of what it would map, and the files for their versions.
#include "indexer/avail_wheels/node/node_probe.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

using io::Json;

constexpr std::size_t max_libraries_asked =
    20'000;                                         // a whole index needs hundreds, a hostile wheel thousands
constexpr std::size_t max_preload_bytes = 100'000;  // execve(2): MAX_ARG_STRLEN, 128 KiB a variable
constexpr std::size_t max_loader_runs = 200;        // each 10 ms; 10 broken libraries of 2,000 take 200
constexpr std::uint64_t max_library_cache_bytes = 16 * base::mib;  // of 20,000 names

// Which libraries have versions that wheels need, by the start of their names.
struct VersionedLibrary {
    std::string_view library;
    std::array<std::string_view, 4> prefixes;
};
constexpr VersionedLibrary versioned_libraries[] = {
    {"libstdc++.so", {"GLIBCXX", "CXXABI"}},
    {"libgcc_s.so", {"GCC"}},
    {"libgomp.so", {"GOMP", "OMP", "OACC", "GOACC"}},
    {"libgfortran.so", {"GFORTRAN"}},
    {"libquadmath.so", {"QUADMATH"}},
    {"libatomic.so", {"LIBATOMIC"}},
    {"libz.so", {"ZLIB"}},
};

Library library_at(const HostProbe& probe, const fs::path& file) {
    Library library{.path = file.native()};
    const std::string name = file.filename().native();
    const bool has_versions = std::any_of(
        std::begin(versioned_libraries), std::end(versioned_libraries),
        [&](const VersionedLibrary& row) { return std::string_view(name).starts_with(row.library); });
    if (has_versions)
        library.versions = versions_of_library(name, read_host_file(probe, file, max_library_bytes));
    return library;
}

// What an ELF file is for: its class, byte order and machine (System V ABI, chapter 4); empty: no regular ELF
// file.
std::string elf_target(const fs::path& file) {
    constexpr std::string_view magic =
        "\x7f"
        "ELF";
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return {};
    std::array<char, 20> header{};
    std::ifstream stream(file, std::ios::binary);
    if (!stream.read(header.data(), header.size())) return {};
    const std::string_view bytes(header.data(), header.size());
    if (!bytes.starts_with(magic)) return {};
    return std::string(bytes.substr(4, 2)) + std::string(bytes.substr(18, 2));
}

// Says whether the interpreter's loader would take this file. A node of another machine is not this
// interpreter's.
bool is_for_interpreter(const HostProbe& probe, const Node& node, const fs::path& file) {
    const auto target = elf_target(probe.root / file.relative_path());
    if (target.empty()) return false;
    if (node.interpreter.empty() || node.machine != probe.machine) return true;
    const auto wanted = elf_target(probe.root / fs::path(node.interpreter).relative_path());
    return wanted.empty() || target == wanted;  // empty: a script that starts another program
}

// What the loader of the Python's process would map with some libraries preloaded.
struct Trace {
    std::map<std::string, std::string, std::less<>> paths;  // by the name that was asked
    std::string lacks;  // the first library that one of those needs and that is not found; empty: none
};

// glibc: "⇥libb.so => not found" on standard output; only what a found library needs is there, not what was
// preloaded in vain. musl: "Error loading shared library libb.so: No such file or directory (needed by
// /lib/liba.so)".
std::string lacking_in(const base::Finished& finished) {
    for (const auto line : base::split_lines(finished.out)) {
        if (const auto end = line.find(" => not found"); end != std::string_view::npos)
            return std::string(base::trim(line.substr(0, end)));
    }
    constexpr std::string_view start = "Error loading shared library ";
    for (const auto line : base::split_lines(finished.err)) {
        if (line.starts_with(start) && line.find(" (needed by ") != std::string_view::npos)
            return std::string(line.substr(start.size(), line.find(':') - start.size()));
    }
    return {};
}

// The loader's own list of what it would map, without running anything: of glibc with
// LD_TRACE_LOADED_OBJECTS, of musl with --list. Preloaded libraries are searched for like those of the
// program.
//
//     ⇥libgsl.so.27 => /lib/x86_64-linux-gnu/libgsl.so.27 (0x00007f…)
//
// nullopt: the loader did not answer.
std::optional<Trace> trace_once(const HostProbe& probe, const Node& node,
                                const std::vector<std::string>& names) {
    base::Command command;
    command.argv = {node.interpreter, "-c", ""};
    if (node.musl) {
        command.argv = {(probe.root / "lib" / ("ld-musl-" + probe.machine + ".so.1")).native(), "--list",
                        node.interpreter};
    }
    auto environment = probe.environment;
    environment["LD_TRACE_LOADED_OBJECTS"] = "1";
    auto& preload = environment["LD_PRELOAD"];
    for (const auto& name : names)
        preload += (preload.empty() ? "" : ":") + name;
    command.environment = std::move(environment);
    command.timeout_ms = python_timeout_ms;
    const auto finished = probe.run(command);
    if (!finished || finished->timed_out) return std::nullopt;
    Trace trace;
    bool has_loader = false;
    for (const auto line : base::split_lines(finished->out)) {
        constexpr std::string_view arrow = " => ";
        has_loader = has_loader || line.find("/ld") != std::string_view::npos;
        const auto at = line.find(arrow);
        const auto end = line.rfind(" (0x");
        if (at == std::string_view::npos || end == std::string_view::npos || end < at) continue;
        trace.paths.emplace(base::trim(line.substr(0, at)),
                            line.substr(at + arrow.size(), end - at - arrow.size()));
    }
    if (!has_loader) return std::nullopt;
    trace.lacks = lacking_in(*finished);
    return trace;
}

bool is_file(std::string_view name) {
    return name.find('/') != std::string_view::npos;
}

// One variable of the environment takes 128 KiB, and the user's own list is in it, too.
std::vector<std::vector<std::string>> batches_of(const std::vector<std::string>& names) {
    std::vector<std::vector<std::string>> batches;
    std::size_t bytes = 0;
    for (const auto& name : names) {
        if (batches.empty() || bytes + name.size() + 1 > max_preload_bytes) {
            batches.emplace_back();
            bytes = 0;
        }
        batches.back().push_back(name);
        bytes += name.size() + 1;
    }
    return batches;
}

// Adds what is known of `names` to `found`. Where a library of the batch lacks one that it needs, halves tell
// which. No run is left after the first without an answer: a file system that is stuck takes each run's whole
// time.
void trace_libraries(const HostProbe& probe, const Node& node, const std::vector<std::string>& names,
                     std::size_t& runs_left, std::map<std::string, Library, std::less<>>& found) {
    if (names.empty() || runs_left == 0) return;
    --runs_left;
    const auto trace = trace_once(probe, node, names);
    if (!trace) {
        runs_left = 0;
        return;
    }
    std::vector<std::string> there;
    for (const auto& name : names) {
        if (is_file(name) || trace->paths.contains(name)) {
            there.push_back(name);
        } else {
            found[name] = Library();
        }
    }
    if (there.size() > 1 && !trace->lacks.empty()) {
        const auto middle = there.begin() + static_cast<std::ptrdiff_t>(there.size() / 2);
        trace_libraries(probe, node, {there.begin(), middle}, runs_left, found);
        trace_libraries(probe, node, {middle, there.end()}, runs_left, found);
        return;
    }
    for (const auto& name : there) {
        auto& library = found[name] = library_at(probe, is_file(name) ? name : trace->paths.at(name));
        library.lacks = trace->lacks;
    }
}

// What decides where libraries are found, besides the node's own key.
std::string library_key(const HostProbe& probe, const Node& node) {
    std::string key = cache_key(probe, node.python_program) + "\n" + node.interpreter;
    std::vector<std::string> places{(probe.root / "etc/ld.so.cache").native()};
    for (const char* name : {"LD_LIBRARY_PATH", "LD_PRELOAD"}) {
        const std::string value = variable(probe, name);
        key += "\n" + value;
        for (const auto place : base::split(value, ':'))
            places.emplace_back(place);
    }
    for (const auto& place : places) {
        struct stat about {};
        if (!place.empty() && ::stat(place.c_str(), &about) == 0)
            key += " " + std::to_string(about.st_mtim.tv_sec) + "." + std::to_string(about.st_mtim.tv_nsec);
    }
    return key;
}

fs::path library_cache(const HostProbe& probe) {
    const fs::path folder = cache_folder(probe.environment);
    return folder.empty() ? folder : folder / ("libraries-" + probe.host + ".json");
}

using Libraries = std::map<std::string, Library, std::less<>>;

Libraries read_library_cache(const HostProbe& probe, const std::string& key, const base::Clock& clock) {
    Libraries libraries;
    const auto text = base::read_file(library_cache(probe), max_library_cache_bytes);
    const auto json = text ? io::parse_json(*text) : base::Result<Json>(Json());
    if (!json || json->string_or("format", {}) != "wheelyard.node-libraries/2" ||
        json->string_or("key", {}) != key)
        return libraries;
    const auto age = clock.now() - std::max<std::int64_t>(0, json->int_or("found", 0));
    const auto* list = json->find("libraries");
    const auto* members = list == nullptr ? nullptr : list->as_object();
    if (age < 0 || age > node_cache_s * 1'000'000 || members == nullptr) return libraries;
    for (const auto& [name, one] : *members) {
        Library library{.path = one.string_or("path", {}), .lacks = one.string_or("lacks", {})};
        if (const auto* versions = one.find("versions"); versions != nullptr && versions->as_object()) {
            for (const auto& [prefix, version] : *versions->as_object()) {
                if (auto dotted = Dotted::parse(version.as_string() ? *version.as_string() : std::string()))
                    library.versions.emplace(prefix, std::move(*dotted));
            }
        }
        libraries.emplace(name, std::move(library));
    }
    return libraries;
}

void write_library_cache(const HostProbe& probe, const std::string& key, const base::Clock& clock,
                         const Libraries& libraries) {
    Json list = Json::object();
    for (const auto& [name, library] : libraries) {
        Json versions = Json::object();
        for (const auto& [prefix, version] : library.versions)
            versions.set(prefix, version.text());
        Json one = Json::object({{"path", library.path}, {"versions", std::move(versions)}});
        if (!library.lacks.empty()) one.set("lacks", library.lacks);
        list.set(name, std::move(one));
    }
    const Json json = Json::object({{"format", "wheelyard.node-libraries/2"},
                                    {"key", key},
                                    {"found", clock.now()},
                                    {"libraries", std::move(list)}});
    const fs::path file = library_cache(probe);
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (!error) (void)base::replace_file(file, json.render());
}

}  // namespace

void ask_libraries(const HostProbe& probe, const base::Clock& clock, const std::vector<std::string>& names,
                   Node& node) {
    std::vector<std::string> searched;
    std::vector<std::string> files;
    for (const auto& name : names) {
        if (node.libraries.contains(name)) continue;
        const bool can_be_listed = name.find_first_of(": \t\n") == std::string::npos;
        if (is_file(name)) {
            auto& library = node.libraries[name];
            if (!is_for_interpreter(probe, node, name)) continue;
            library = library_at(probe, name);
            if (can_be_listed && !node.is_described) files.push_back(name);
        } else if (name.size() > NAME_MAX) {
            node.libraries[name] = Library();
        } else if (can_be_listed) {
            searched.push_back(name);
        }
    }
    // Another C library's loader may run the interpreter instead of tracing it.
    if ((searched.empty() && files.empty()) || node.interpreter.empty() || (!node.glibc && !node.musl))
        return;
    const bool has_cache = !library_cache(probe).empty();
    const std::string key = has_cache ? library_key(probe, node) : std::string();
    auto known = has_cache ? read_library_cache(probe, key, clock) : Libraries();
    std::size_t runs_left = max_loader_runs;
    bool is_new = false;
    // Files have lists of their own: a file would be taken for the name that its soname is.
    for (const auto* asked : {&searched, &files}) {
        std::vector<std::string> missing;
        std::copy_if(asked->begin(), asked->end(), std::back_inserter(missing),
                     [&](const std::string& name) { return !known.contains(name); });
        missing.resize(std::min(missing.size(), max_libraries_asked));
        is_new = is_new || !missing.empty();
        for (const auto& batch : batches_of(missing))
            trace_libraries(probe, node, batch, runs_left, known);
    }
    for (const auto& name : searched) {
        if (const auto one = known.find(name); one != known.end()) node.libraries[name] = one->second;
    }
    for (const auto& name : files) {
        if (const auto one = known.find(name); one != known.end())
            node.libraries[name].lacks = one->second.lacks;
    }
    // What is added to a folder that no variable names does not change the key.
    std::erase_if(known, [](const auto& one) { return is_file(one.first) && !one.second.lacks.empty(); });
    if (has_cache && is_new) write_library_cache(probe, key, clock, known);
}

std::map<std::string, Dotted, std::less<>> versions_of_library(std::string_view name,
                                                               std::string_view bytes) {
    std::map<std::string, Dotted, std::less<>> versions;
    const auto* const row =
        std::find_if(std::begin(versioned_libraries), std::end(versioned_libraries),
                     [&](const VersionedLibrary& one) { return name.starts_with(one.library); });
    if (row == std::end(versioned_libraries)) return versions;
    for (const auto prefix : row->prefixes) {
        if (prefix.empty()) continue;
        // In the table of strings, each name begins after a NUL and ends with one.
        const std::string start = std::string(1, '\0') + std::string(prefix) + "_";
        for (auto at = bytes.find(start); at != std::string_view::npos; at = bytes.find(start, at + 1)) {
            const auto rest = bytes.substr(at + start.size());
            auto version = Dotted::parse(rest.substr(0, rest.find('\0')));
            if (!version) continue;
            auto& highest = versions[std::string(prefix)];
            if (highest.numbers.empty() || highest < *version) highest = std::move(*version);
        }
    }
    return versions;
}

}  // namespace wheelyard::avail_wheels
