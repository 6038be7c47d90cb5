// Probes from the cheapest source to the most expensive, and caches the result.
#include "indexer/avail_wheels/node/node_probe.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <system_error>
#include <utility>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace templates {
extern const std::string_view ask_python;
}

namespace {

// /proc/cpuinfo of 1,000 processors: 2 MiB.
constexpr std::uint64_t max_proc_bytes = 8 * base::mib;
constexpr std::uint64_t max_libc_bytes = 16 * base::mib;  // includes its symbols
constexpr std::size_t max_functions_asked = 3'000;        // PyPy 7.3.19 has 910; execve(2) takes 2 MiB
constexpr std::int64_t probe_timeout_ms = 20'000;         // a GPU in power saving needs seconds to answer
constexpr std::size_t max_module_folders = 200;           // .pth files may name many
constexpr std::uint64_t max_node_bytes = 256 * base::kib;

using io::Json;

// The first value of "KEY   : value".
std::string_view value_of(std::string_view text, std::string_view key) {
    for (const auto line : base::split_lines(text)) {
        const auto colon = line.find(':');
        if (colon != std::string_view::npos && base::trim(line.substr(0, colon)) == key)
            return base::trim(line.substr(colon + 1));
    }
    return {};
}

void probe_gpus(const HostProbe& probe, Node& node) {
    accelerator::HostAccess host;
    host.read = [&](const std::string& path) { return read_host_file(probe, path, max_proc_bytes); };
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
        return command[0].empty() ? std::string() : output_of(probe, std::move(command), probe_timeout_ms);
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
    base::Command command;
    command.argv = {file, "-I", "-S", "-c", std::string(templates::ask_python)};
    command.environment = probe.environment;
    command.timeout_ms = python_timeout_ms;
    const auto finished = probe.run(command);
    answer.fault = fault_of(finished);
    if (!finished || finished->timed_out || finished->exit_code != 0) return answer;
    const auto said = io::parse_json(finished->out);
    if (!said) return answer;
    const std::string name = said->string_or("name", {});
    auto python = parse_python(said->string_or("version", {}));
    if (name.empty() || !python) return answer;
    if (name != "cpython" && name != "pypy") {
        answer.fault = "is neither CPython nor PyPy";
        return answer;
    }
    python->free_threaded = said->bool_or("free_threaded", false);
    python->pypy = name == "pypy";
    if (python->pypy) python->pypy_abi = pypy_abi_of(said->string_or("soabi", {}));
    python->debug = !python->pypy && said->bool_or("debug", false);
    answer.python = std::move(*python);
    answer.fault.clear();
    answer.interpreter = said->string_or("executable", {});
    for (std::string& folder : said->texts("folders"))
        if (folder.starts_with('/') && answer.module_folders.size() < max_module_folders)
            answer.module_folders.push_back(std::move(folder));
    const std::string libc = said->string_or("libc", {});
    constexpr std::string_view glibc = "glibc ";
    if (libc.starts_with(glibc)) answer.glibc = Dotted::parse(libc.substr(glibc.size()));
    answer.has_other_libc = libc == "none";
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
    if (node.is_described || node.pythons.size() != 1) return;
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
    if (node.is_described || node.pythons.size() != 1 || !node.pythons.front().pypy ||
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

std::string variable(const HostProbe& probe, const std::string& name) {
    const auto found = probe.environment.find(name);
    return found == probe.environment.end() ? std::string() : found->second;
}

std::string read_host_file(const HostProbe& probe, const fs::path& path, std::uint64_t limit) {
    auto text = base::read_file(probe.root / path.relative_path(), limit);
    return text ? std::move(*text) : std::string();
}

std::string output_of(const HostProbe& probe, std::vector<std::string> argv, std::int64_t timeout_ms) {
    base::Command command;
    command.argv = std::move(argv);
    command.environment = probe.environment;
    command.timeout_ms = timeout_ms;
    const auto finished = probe.run(command);
    return finished && finished->exit_code == 0 && !finished->timed_out ? finished->out : std::string();
}

std::string cache_key(const HostProbe& probe, const std::string& python) {
    std::string key = probe.host + "\n" + probe.machine + "\n" + python;
    struct stat about {};
    if (!python.empty() && ::stat(python.c_str(), &about) == 0)
        key += " " + std::to_string(about.st_mtime) + " " + std::to_string(about.st_ino);
    key += "\n" +
           std::string(base::trim(read_host_file(probe, "/proc/sys/kernel/random/boot_id", max_proc_bytes)));
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
        node.cpu = x86_level(value_of(read_host_file(probe, "/proc/cpuinfo", max_proc_bytes), "flags"));
    if (probe.machine == "aarch64")
        node.cpu = arm_level(value_of(read_host_file(probe, "/proc/cpuinfo", max_proc_bytes), "Features"));
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
