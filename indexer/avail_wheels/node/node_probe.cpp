// Probes from the cheapest source to the most expensive, and caches the result.
#include "indexer/avail_wheels/node/node_probe.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "indexer/avail_wheels/node/limits.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

using io::Json;

std::string variable(const HostProbe& probe, const std::string& name) {
    const auto found = probe.environment.find(name);
    return found == probe.environment.end() ? std::string() : found->second;
}

// Files of /proc and /sys report size 0, so they are read to the end. Empty: does not exist.
std::string read_host_file(const HostProbe& probe, const fs::path& path,
                           std::uint64_t limit = max_proc_bytes) {
    auto text = base::read_file(probe.root / path.relative_path(), limit);
    return text ? std::move(*text) : std::string();
}

// The first value of "KEY   : value".
std::string_view value_of(std::string_view text, std::string_view key) {
    for (const auto line : base::split_lines(text)) {
        const auto colon = line.find(':');
        if (colon != std::string_view::npos && base::trim(line.substr(0, colon)) == key)
            return base::trim(line.substr(colon + 1));
    }
    return {};
}

std::string output_of(const HostProbe& probe, std::vector<std::string> argv,
                      std::int64_t timeout_ms = probe_timeout_ms) {
    base::Command command;
    command.argv = std::move(argv);
    command.environment = probe.environment;
    command.timeout_ms = timeout_ms;
    const auto finished = probe.run(command);
    return finished && finished->exit_code == 0 && !finished->timed_out ? finished->out : std::string();
}

void probe_gpus(const HostProbe& probe, Node& node) {
    accelerator::HostAccess host;
    host.read = [&](const std::string& path) { return read_host_file(probe, path); };
    host.list = [&](const fs::path& folder) {
        std::vector<std::string> paths;
        std::error_code error;
        for (fs::directory_iterator entry(probe.root / folder.relative_path(), error), end;
             !error && entry != end; entry.increment(error))
            paths.push_back((folder / entry->path().filename()).native());
        std::sort(paths.begin(), paths.end());
        return paths;
    };
    host.run = [&](std::vector<std::string> command) {
        command[0] = program_on_path(probe.environment, command[0]);
        return command[0].empty() ? std::string() : output_of(probe, std::move(command));
    };
    accelerator::FoundGpus found;
    for (const auto* kind : accelerator::accelerator_kinds())
        kind->probe(host, found);
    node.gpus = std::move(found.gpus);
    node.driver = std::move(found.driver);
}

constexpr const char* libc_folders[] = {"lib64", "lib/TRIPLET", "usr/lib/TRIPLET", "lib", "usr/lib64"};

fs::path libc_file(const HostProbe& probe, const char* folder) {
    return probe.root / base::replace_all(folder, "TRIPLET", probe.machine + "-linux-gnu") / "libc.so.6";
}

std::optional<Dotted> probe_glibc(const HostProbe& probe) {
    for (const char* folder : libc_folders) {
        const auto bytes = base::read_file(libc_file(probe, folder), max_libc_bytes);
        if (!bytes) continue;
        if (auto glibc = glibc_of_library(*bytes)) return glibc;
    }
    return std::nullopt;
}

// musl's loader prints its version on standard error, without arguments:
//     musl libc (x86_64)
//     Version 1.2.3
std::optional<Dotted> probe_musl(const HostProbe& probe) {
    const fs::path loader = probe.root / "lib" / ("ld-musl-" + probe.machine + ".so.1");
    std::error_code error;
    if (!fs::exists(loader, error)) return std::nullopt;
    base::Command command;
    command.argv = {loader.native()};
    command.environment = probe.environment;
    command.timeout_ms = python_timeout_ms;
    const auto finished = probe.run(command);
    if (!finished || finished->timed_out) return std::nullopt;
    constexpr std::string_view key = "Version ";
    for (const auto line : base::split_lines(finished->err)) {
        if (line.starts_with(key)) return Dotted::parse(base::trim(line.substr(key.size())));
    }
    return std::nullopt;
}

struct PythonAnswer {
    std::optional<Python> python;  // absent: none, broken, hanging, or neither CPython nor PyPy
    std::optional<Dotted> glibc;   // that the interpreter runs on, which may not be the system's
    bool has_other_libc = false;   // the interpreter runs without glibc
    std::string fault;             // why there is no answer
    std::string interpreter;       // sys.executable
    std::vector<std::string> module_folders;
};

// "pypy310-pp73-x86_64-linux-gnu" → "pp73".
std::string pypy_abi_of(std::string_view soabi) {
    for (const auto part : base::split(soabi, '-')) {
        if (part.starts_with("pp")) return std::string(part);
    }
    return {};
}

// A sentence's end: what running the interpreter ended with.
std::string fault_of(const base::Result<base::Finished>& finished) {
    if (!finished) return "cannot be started";
    if (finished->timed_out)
        return "does not answer within " + std::to_string(python_timeout_ms / 1000) + " s";
    if (finished->exit_code == 0) return "does not answer as a Python does";
    const auto lines = base::split_lines(base::trim(finished->err));
    return "ends with status " + std::to_string(finished->exit_code) +
           (lines.empty() || lines.back().empty() ? "" : ": " + std::string(lines.back()));
}

// Asks the interpreter itself, as pip does (packaging's _manylinux): a Python of a Gentoo prefix, of EESSI or
// of Nix has a glibc of its own.
//
// Where it looks for modules comes last, as `site` computes it without -I and -S: that of a user counts unless the
// environment (venv) leaves it out. Path lines of .pth files count, their code is not run. Folders that do not exist yet are
// listed, too, because the answer is cached.
PythonAnswer ask_python(const HostProbe& probe, const std::string& file) {
    PythonAnswer answer;
    if (file.empty()) return answer;
    std::error_code error;
    if (!fs::exists(file, error)) {
        answer.fault = "is not there";
        if (fs::is_symlink(file, error))
            answer.fault += ": it is a link to " + fs::read_symlink(file, error).native();
        return answer;
    }
    constexpr const char* question =
        "import os, sys, sysconfig\n"
        "try: libc = os.confstr('CS_GNU_LIBC_VERSION') or 'none'\n"
        "except (AttributeError, OSError, ValueError): libc = 'none'\n"
        "variable = sysconfig.get_config_var\n"
        "print(sys.implementation.name, '.'.join(map(str, sys.version_info[:3])),"
        " variable('Py_GIL_DISABLED') or 0, libc.replace(' ', '-'), variable('SOABI') or '-',"
        " int(bool(variable('Py_DEBUG'))))\n"
        "print(sys.executable)\n"
        "try:\n"
        " import site\n"
        " site.exec = lambda *line: None\n"
        " site.ENABLE_USER_SITE = not os.environ.get('PYTHONNOUSERSITE')\n"
        " known = site.venv(set())\n"
        " users = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []\n"
        " site.addsitepackages(site.addusersitepackages(known))\n"
        " print('\\n'.join(dict.fromkeys(sys.path + users + site.getsitepackages())))\n"
        "except Exception: pass";
    base::Command command;
    command.argv = {file, "-I", "-S", "-c", question};
    command.environment = probe.environment;
    command.timeout_ms = python_timeout_ms;
    const auto finished = probe.run(command);
    answer.fault = fault_of(finished);
    if (!finished || finished->timed_out || finished->exit_code != 0) return answer;
    const auto lines = base::split_lines(base::trim(finished->out));
    const auto words = base::split(lines.empty() ? std::string_view() : base::trim(lines.front()), ' ');
    if (words.size() < 3) return answer;
    if (words[0] != "cpython" && words[0] != "pypy") {
        answer.fault = "is neither CPython nor PyPy";
        return answer;
    }
    auto python = parse_python(words[1]);
    if (!python) return answer;
    python->free_threaded = words[2] == "1";
    python->pypy = words[0] == "pypy";
    if (python->pypy && words.size() > 4) python->pypy_abi = pypy_abi_of(words[4]);
    python->debug = !python->pypy && words.size() > 5 && words[5] == "1";
    answer.python = std::move(*python);
    answer.fault.clear();
    if (lines.size() > 1) answer.interpreter = base::trim(lines[1]);
    for (std::size_t at = 2; at < lines.size() && answer.module_folders.size() < max_module_folders; ++at) {
        if (const auto folder = base::trim(lines[at]); folder.starts_with('/'))
            answer.module_folders.emplace_back(folder);
    }
    constexpr std::string_view glibc = "glibc-";
    if (words.size() > 3 && words[3].starts_with(glibc))
        answer.glibc = Dotted::parse(words[3].substr(glibc.size()));
    answer.has_other_libc = words.size() > 3 && words[3] == "none";
    return answer;
}

std::optional<std::vector<std::string>> loaded_modules(const HostProbe& probe) {
    const auto found = probe.environment.find("LOADEDMODULES");
    const bool has_system =
        probe.environment.contains("MODULESHOME") || probe.environment.contains("LMOD_CMD");
    if (found == probe.environment.end() && !has_system) return std::nullopt;
    std::vector<std::string> modules;
    if (found == probe.environment.end()) return modules;
    for (const auto module : base::split(found->second, ':')) {
        if (!module.empty()) modules.emplace_back(module);
    }
    return modules;
}

// Invalidates the cache on another boot, in another job or with another Python.
std::string cache_key(const HostProbe& probe, const std::string& python) {
    std::string key = probe.host + "\n" + probe.machine + "\n" + python;
    struct stat about {};
    if (!python.empty() && ::stat(python.c_str(), &about) == 0)
        key += " " + std::to_string(about.st_mtime) + " " + std::to_string(about.st_ino);
    key += "\n" + std::string(base::trim(read_host_file(probe, "/proc/sys/kernel/random/boot_id")));
    // Shims of pyenv and others choose the Python by folder.
    std::error_code error;
    if (const auto shims = python.find("/shims/"); shims != std::string::npos) {
        key += "\n" + fs::current_path(error).native();
        for (const std::string& choice :
             {python.substr(0, shims) + "/version", std::string(".python-version")})
            key += "\n" + base::read_file(choice, max_pyvenv_bytes).value_or("");
    }
    for (const char* name :
         {"PYENV_VERSION", "SLURM_JOB_ID", "PBS_JOBID", "FLUX_JOB_ID", "PYTHONNOUSERSITE", "PYTHONUSERBASE"})
        key += "\n" + variable(probe, name);
    for (const auto* kind : accelerator::accelerator_kinds())
        key += "\n" + variable(probe, std::string(kind->visible_devices));
    return key;
}

std::optional<Node> read_cache(const fs::path& file, const std::string& key, const base::Clock& clock) {
    const auto text = base::read_file(file, max_node_bytes);
    if (!text) return std::nullopt;
    const auto json = io::parse_json(*text);
    if (!json || json->string_or("format", {}) != "wheelyard.node-cache/4" ||
        json->string_or("key", {}) != key)
        return std::nullopt;
    const auto age = clock.now() - std::max<std::int64_t>(0, json->int_or("found", 0));
    if (age < 0 || age > node_cache_s * 1'000'000) return std::nullopt;
    const auto* node = json->find("node");
    return node == nullptr ? std::nullopt : std::optional(node_from_json(*node));
}

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

// What an ELF file is for: its class, byte order and machine (System V ABI, chapter 4); empty: no regular ELF file.
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

// Whether the interpreter's loader would take this file. A node of another machine is not this interpreter's.
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

// glibc: "⇥libb.so => not found" on standard output; only what a found library needs is there, not what was preloaded in
// vain. musl: "Error loading shared library libb.so: No such file or directory (needed by /lib/liba.so)".
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

// The loader's own list of what it would map, without running anything: of glibc with LD_TRACE_LOADED_OBJECTS, of musl with
// --list. Preloaded libraries are searched for like those of the program.
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

// Adds what is known of `names` to `found`. Where a library of the batch lacks one that it needs, halves tell which. No
// run is left after the first without an answer: a file system that is stuck takes each run's whole time.
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

// The first name lib….so… for each "-l…", as CPython's Lib/ctypes/util.py finds it. nullopt: there is no list.
std::optional<std::map<std::string, std::string, std::less<>>> search_ldconfig(
    const HostProbe& probe, const std::vector<std::string>& searched) {
    const std::string listed = output_of(probe, {"/sbin/ldconfig", "-p"}, python_timeout_ms);
    if (listed.empty()) return std::nullopt;
    const std::string_view abi = probe.machine == "x86_64"                                ? "libc6,x86-64"
                                 : probe.machine == "s390x" || probe.machine == "ppc64le" ? "libc6,64bit"
                                                                                          : "libc6";
    std::map<std::string, std::string, std::less<>> found;
    for (const auto line : base::split_lines(listed)) {
        const std::string_view entry = base::trim(line);
        const auto space = entry.find(" (");
        if (space == std::string_view::npos || !entry.substr(space + 2).starts_with(abi)) continue;
        const std::string_view file = entry.substr(0, space);
        for (const std::string& name : searched)
            if (file.starts_with("lib" + name.substr(2) + ".")) found.try_emplace(name, file);
    }
    return found;
}

// find_library asks the linker, too, where there is one, and that searches these folders.
bool has_path_with(const HostProbe& probe, const std::string& searched) {
    const std::string path = variable(probe, "LD_LIBRARY_PATH");
    std::error_code error;
    for (const auto folder : base::split(path, ':'))
        if (!folder.empty() && fs::exists(fs::path(folder) / ("lib" + searched.substr(2) + ".so"), error))
            return true;
    return false;
}

void ask_searched(const HostProbe& probe, const base::Clock& clock, const std::vector<std::string>& searched,
                  Node& node) {
    const bool has_cache = !library_cache(probe).empty();
    const std::string key = has_cache ? library_key(probe, node) : std::string();
    const auto known = has_cache ? read_library_cache(probe, key, clock) : Libraries();
    std::vector<std::string> missing;
    for (const auto& name : searched) {
        const auto one = known.find(name);
        if (one == known.end())
            missing.push_back(name);
        else
            node.libraries[name] = one->second;
    }
    if (missing.empty() || node.musl || node.is_described) return;
    const auto found = search_ldconfig(probe, missing);
    if (!found) return;
    std::vector<std::string> files;
    for (const auto& [name, file] : *found)
        files.push_back(file);
    ask_libraries(probe, clock, files, node);
    for (const auto& name : missing) {
        const auto file = found->find(name);
        const auto library = file == found->end() ? node.libraries.end() : node.libraries.find(file->second);
        if (library != node.libraries.end())
            node.libraries[name] = library->second;
        else if (file == found->end() && !has_path_with(probe, name))
            node.libraries[name] = Library();
    }
    if (!has_cache) return;
    auto all = read_library_cache(probe, key, clock);
    for (const auto& name : missing)
        if (const auto one = node.libraries.find(name); one != node.libraries.end()) all[name] = one->second;
    write_library_cache(probe, key, clock, all);
}

// "python3.13" of a folder that has the standard library.
bool is_standard_library(const fs::path& folder, const Python& python) {
    std::error_code error;
    const std::string name = folder.filename().native();
    const std::string minor = "3." + std::to_string(python.minor);
    return (name == "python" + minor || name == "python" + minor + "t" || name == "pypy" + minor) &&
           fs::exists(folder / "os.py", error);
}

bool has_module(const HostProbe& probe, const std::vector<std::string>& folders, const std::string& dotted) {
    const std::string path = base::replace_all(dotted, ".", "/");
    std::error_code error;
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
        const std::string file = (probe.root / fs::path(folder).relative_path() / path).native();
        return fs::exists(file + ".py", error) || fs::exists(file + "/__init__.py", error) ||
               fs::exists(file + ".so", error);
    });
}

}  // namespace

void ask_modules(const HostProbe& probe, const std::vector<std::string>& names, Node& node) {
    if (node.is_described || node.any_python || node.pythons.size() != 1) return;
    const bool is_asked =
        std::any_of(node.module_folders.begin(), node.module_folders.end(), [&](const std::string& folder) {
            return is_standard_library(probe.root / fs::path(folder).relative_path(), node.pythons.front());
        });
    if (!is_asked) return;
    std::vector<std::string> folders;
    if (const std::string path = variable(probe, "PYTHONPATH"); !path.empty())
        for (const auto folder : base::split(path, ':'))
            folders.emplace_back(folder);
    folders.insert(folders.end(), node.module_folders.begin(), node.module_folders.end());
    for (const auto& name : names)
        node.found_modules.try_emplace(name, has_module(probe, folders, name));
}

// The process itself is asked by dlsym(3), as the loader of an extension module would find them.
void ask_functions(const HostProbe& probe, const std::vector<std::string>& names, Node& node) {
    if (node.is_described || node.any_python || node.pythons.size() != 1 || !node.pythons.front().pypy ||
        node.interpreter.empty() || node.module_folders.empty())
        return;
    std::vector<std::string> missing;
    std::copy_if(names.begin(), names.end(), std::back_inserter(missing),
                 [&](const std::string& name) { return !node.found_functions.contains(name); });
    missing.resize(std::min(missing.size(), max_functions_asked));
    if (missing.empty()) return;
    static constexpr const char* asks_dlsym =
        "import ctypes, sys\n"
        "process = ctypes.CDLL(None)\n"
        "print(*(int(hasattr(process, name)) for name in sys.argv[1:]), sep='')";
    std::vector<std::string> argv{node.interpreter, "-I", "-S", "-c", asks_dlsym};
    argv.insert(argv.end(), missing.begin(), missing.end());
    const std::string answer = output_of(probe, std::move(argv), python_timeout_ms);
    const std::string_view found = base::trim(answer);
    if (found.size() != missing.size()) return;
    for (std::size_t i = 0; i < missing.size(); ++i)
        node.found_functions.emplace(std::move(missing[i]), found[i] == '1');
}

void ask_libraries(const HostProbe& probe, const base::Clock& clock, const std::vector<std::string>& names,
                   Node& node) {
    std::vector<std::string> searched;
    std::vector<std::string> files;
    std::vector<std::string> by_linker;
    for (const auto& name : names) {
        if (node.libraries.contains(name)) continue;
        if (name.starts_with("-l")) {
            by_linker.push_back(name);
            continue;
        }
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
    if (!by_linker.empty()) ask_searched(probe, clock, by_linker, node);
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

bool is_musl_host(const HostProbe& probe) {
    std::error_code error;
    return fs::exists(probe.root / "lib" / ("ld-musl-" + probe.machine + ".so.1"), error) &&
           std::none_of(std::begin(libc_folders), std::end(libc_folders),
                        [&](const char* folder) { return fs::exists(libc_file(probe, folder), error); });
}

HostProbe local_host_probe(EnvironmentMap environment) {
    HostProbe probe;
    probe.environment = std::move(environment);
    struct utsname about {};
    if (::uname(&about) == 0) {
        probe.host = about.nodename;
        probe.machine = about.machine;
    }
    probe.run = base::run_command;
    return probe;
}

Node probe_node(const HostProbe& probe) {
    Node node;
    node.name = probe.host;
    node.machine = probe.machine;
    if (probe.machine == "x86_64")
        node.cpu = x86_level(value_of(read_host_file(probe, "/proc/cpuinfo"), "flags"));
    if (probe.machine == "aarch64")
        node.cpu = arm_level(value_of(read_host_file(probe, "/proc/cpuinfo"), "Features"));
    probe_gpus(probe, node);
    node.python_program = python_of_pip(probe.environment);
    auto answer = ask_python(probe, node.python_program);
    node.glibc = answer.glibc;
    if (!node.glibc && !answer.has_other_libc) node.glibc = probe_glibc(probe);
    if (!node.glibc) node.musl = probe_musl(probe);
    if (answer.python) node.pythons.push_back(std::move(*answer.python));
    node.python_fault = std::move(answer.fault);
    node.interpreter = std::move(answer.interpreter);
    node.module_folders = std::move(answer.module_folders);
    node.modules = loaded_modules(probe);
    return node;
}

Node known_node(const HostProbe& probe, const base::Clock& clock) {
    const fs::path folder = cache_folder(probe.environment);
    if (folder.empty()) return probe_node(probe);
    const std::string key = cache_key(probe, python_of_pip(probe.environment));
    const fs::path file = folder / ("node-" + probe.host + ".json");
    if (auto node = read_cache(file, key, clock)) {
        node->modules = loaded_modules(probe);
        return *node;
    }
    Node node = probe_node(probe);
    // A Python that did not answer is asked again: it may have been on a file system that was stuck.
    if (!node.python_program.empty() && node.pythons.empty()) return node;
    const Json json = Json::object({{"format", "wheelyard.node-cache/4"},
                                    {"key", key},
                                    {"found", clock.now()},
                                    {"node", node_to_json(node)}});
    // On a full or read-only home, the next call only takes a second longer.
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error) (void)base::replace_file(file, json.render_pretty());
    return node;
}

fs::path cache_folder(const EnvironmentMap& environment) {
    // XDG Base Directory Specification: relative paths are ignored.
    if (const auto xdg = environment.find("XDG_CACHE_HOME");
        xdg != environment.end() && fs::path(xdg->second).is_absolute())
        return fs::path(xdg->second) / "wheelyard";
    if (const auto home = environment.find("HOME");
        home != environment.end() && fs::path(home->second).is_absolute())
        return fs::path(home->second) / ".cache" / "wheelyard";
    return {};
}

std::optional<Dotted> glibc_of_library(std::string_view bytes) {
    constexpr std::string_view words = "release version ";
    for (auto at = bytes.find(words); at != std::string_view::npos; at = bytes.find(words, at + 1)) {
        auto rest = bytes.substr(at + words.size());
        auto end = rest.find_first_not_of("0123456789.");
        rest = rest.substr(0, end);
        while (rest.ends_with('.'))
            rest.remove_suffix(1);
        auto version = Dotted::parse(rest);
        if (version && version->numbers.size() >= 2) return version;
    }
    return std::nullopt;
}

}  // namespace wheelyard::avail_wheels
