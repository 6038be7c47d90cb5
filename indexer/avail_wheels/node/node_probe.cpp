// Probing, from the cheapest source to the dearest, and the cache of what it found.
#include "indexer/avail_wheels/node/node_probe.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "indexer/avail_wheels/node/gpu_rules.hpp"
#include "indexer/avail_wheels/node/limits.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

using io::Json;

std::string variable(const Ground& ground, const std::string& name) {
    const auto found = ground.environment.find(name);
    return found == ground.environment.end() ? std::string() : found->second;
}

// /proc and /sys say that their files are empty, so they are read as far as they go. Empty: not there.
std::string read_ground(const Ground& ground, const fs::path& path, std::uint64_t limit = max_proc_bytes) {
    auto text = base::read_file(ground.root / path.relative_path(), limit);
    return text ? std::move(*text) : std::string();
}

// The value of "KEY   : value", first of its kind.
std::string_view value_of(std::string_view text, std::string_view key) {
    for (const auto line : base::split_lines(text)) {
        const auto colon = line.find(':');
        if (colon != std::string_view::npos && base::trim(line.substr(0, colon)) == key)
            return base::trim(line.substr(colon + 1));
    }
    return {};
}

void add_gpu(Node& node, const std::string& arch, std::string_view name) {
    if (arch.empty()) return;
    if (!node.gpus) node.gpus = Gpus{};
    auto& archs = node.gpus->archs;
    auto& names = node.gpus->names;
    if (std::find(archs.begin(), archs.end(), arch) == archs.end()) archs.push_back(arch);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

// "gfx90a" as compilers name it. Before ROCm 6.4 amd-smi wrote the stepping with two decimal digits: gfx9010
// is gfx90a. Empty: no such name ("N/A").
std::string gfx_of_smi(std::string_view name) {
    constexpr std::string_view mark = "gfx";
    constexpr std::size_t digits_of_gfx9 = 3;
    if (!name.starts_with(mark) || name.size() == mark.size()) return {};
    const auto rest = name.substr(mark.size());
    if (!std::all_of(rest.begin(), rest.end(), base::is_ascii_alnum)) return {};
    const std::size_t usual = rest.front() == '9' ? digits_of_gfx9 : digits_of_gfx9 + 1;
    const auto number = base::parse_decimal(rest);
    if (!number || rest.size() != usual + 1) return std::string(name);
    constexpr std::uint64_t behind_major = 1000;  // one digit of the minor, two of the stepping
    return gfx_of_target_version(*number / behind_major * 10'000 + *number % behind_major);
}

std::vector<fs::path> folders_in(const Ground& ground, const fs::path& path) {
    std::vector<fs::path> folders;
    std::error_code error;
    for (fs::directory_iterator entry(ground.root / path.relative_path(), error), end; !error && entry != end;
         entry.increment(error))
        folders.push_back(path / entry->path().filename());
    std::sort(folders.begin(), folders.end());
    return folders;
}

// The full path of `name` on the environment's PATH; empty: not there.
std::string program(const Ground& ground, const std::string& name) {
    const std::string path = variable(ground, "PATH");
    for (const auto folder : base::split(path, ':')) {
        if (folder.empty()) continue;
        std::string candidate = std::string(folder) + "/" + name;
        if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return {};
}

std::string answer_of(const Ground& ground, std::vector<std::string> argv) {
    base::Command command;
    command.argv = std::move(argv);
    command.environment = ground.environment;
    command.timeout_ms = probe_timeout_ms;
    const auto finished = ground.run(command);
    return finished && finished->exit_code == 0 && !finished->timed_out ? finished->out : std::string();
}

void probe_nvidia(const Ground& ground, Node& node) {
    node.driver = driver_of_proc(read_ground(ground, "/proc/driver/nvidia/version"));
    if (const auto smi = program(ground, "nvidia-smi"); !smi.empty()) {
        read_nvidia_smi(
            answer_of(ground, {smi, "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"}),
            node);
    }
    if (node.gpus) return;
    for (const auto& gpu : folders_in(ground, "/proc/driver/nvidia/gpus")) {
        const std::string text = read_ground(ground, gpu / "information");
        const auto model = value_of(text, "Model");
        add_gpu(node, sm_of_model(model), model);
    }
}

void probe_amd(const Ground& ground, Node& node) {
    constexpr std::string_view key = "gfx_target_version ";
    bool has_any = false;
    for (const auto& folder : folders_in(ground, "/sys/class/kfd/kfd/topology/nodes")) {
        const std::string text = read_ground(ground, folder / "properties");
        for (const auto line : base::split_lines(text)) {
            if (!line.starts_with(key)) continue;
            const auto version = base::parse_decimal(base::trim(line.substr(key.size())));
            const std::string arch = version ? gfx_of_target_version(*version) : std::string();
            has_any = has_any || !arch.empty();
            add_gpu(node, arch, {});
        }
    }
    if (has_any) return;
    if (const auto rocminfo = program(ground, "rocminfo"); !rocminfo.empty())
        read_rocminfo(answer_of(ground, {rocminfo}), node);
    if (node.gpus) return;
    // Last: it is a Python program, a second to start, and knows no features such as xnack.
    if (const auto smi = program(ground, "amd-smi"); !smi.empty())
        read_amd_smi(answer_of(ground, {smi, "static", "--asic", "--json"}), node);
}

std::optional<Dotted> probe_glibc(const Ground& ground) {
    const std::string triplet = ground.machine + "-linux-gnu";
    for (const fs::path& path : {fs::path("/lib64/libc.so.6"), fs::path("/lib") / triplet / "libc.so.6",
                                 fs::path("/usr/lib") / triplet / "libc.so.6", fs::path("/lib/libc.so.6"),
                                 fs::path("/usr/lib64/libc.so.6")}) {
        const std::string bytes = read_ground(ground, path, max_libc_bytes);
        if (auto glibc = glibc_of_library(bytes)) return glibc;
    }
    return std::nullopt;
}

// The Python that `pip` belongs to in this shell; empty: none.
std::string python_program(const Ground& ground) {
    for (const char* name : {"VIRTUAL_ENV", "EBROOTPYTHON", "CONDA_PREFIX"}) {
        const std::string prefix = variable(ground, name);
        if (prefix.empty()) continue;
        const std::string file = prefix + "/bin/python";
        for (const auto& candidate : {file, file + "3"}) {
            if (::access(candidate.c_str(), X_OK) == 0) return candidate;
        }
    }
    for (const char* name : {"python3", "python"}) {
        if (auto found = program(ground, name); !found.empty()) return found;
    }
    return {};
}

std::optional<Python> probe_python(const Ground& ground, const std::string& file) {
    if (file.empty()) return python_of_shell(ground.environment);
    constexpr const char* question =
        "import sys, sysconfig\n"
        "print(sys.implementation.name, '.'.join(map(str, sys.version_info[:3])),"
        " sysconfig.get_config_var('Py_GIL_DISABLED') or 0)";
    const std::string answer = answer_of(ground, {file, "-I", "-S", "-c", question});
    const auto words = base::split(base::trim(answer), ' ');
    if (words.size() == 3 && words[0] == "cpython") {
        if (auto python = parse_python(words[1])) {
            python->free_threaded = words[2] == "1";
            return *python;
        }
    }
    return python_of_shell(ground.environment);
}

std::optional<std::vector<std::string>> loaded_modules(const Ground& ground) {
    const auto found = ground.environment.find("LOADEDMODULES");
    const bool has_system =
        ground.environment.contains("MODULESHOME") || ground.environment.contains("LMOD_CMD");
    if (found == ground.environment.end() && !has_system) return std::nullopt;
    std::vector<std::string> modules;
    if (found == ground.environment.end()) return modules;
    for (const auto module : base::split(found->second, ':')) {
        if (!module.empty()) modules.emplace_back(module);
    }
    return modules;
}

// What the cache is good for: another boot, job or Python is another answer.
std::string cache_key(const Ground& ground, const std::string& python) {
    std::string key = ground.host + "\n" + ground.machine + "\n" + python;
    struct stat about {};
    if (!python.empty() && ::stat(python.c_str(), &about) == 0)
        key += " " + std::to_string(about.st_mtime) + " " + std::to_string(about.st_ino);
    key += "\n" + std::string(base::trim(read_ground(ground, "/proc/sys/kernel/random/boot_id")));
    // pyenv's and others' shims choose the Python by folder.
    std::error_code error;
    if (python.find("/shims/") != std::string::npos) key += "\n" + fs::current_path(error).native();
    for (const char* name :
         {"PYENV_VERSION", "SLURM_JOB_ID", "PBS_JOBID", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"})
        key += "\n" + variable(ground, name);
    return key;
}

std::optional<Node> read_cache(const fs::path& file, const std::string& key, const base::Clock& clock) {
    const auto text = base::read_file(file, max_node_bytes);
    if (!text) return std::nullopt;
    const auto json = io::parse_json(*text);
    if (!json || json->string_or("format", {}) != "wheelyard.node-cache/1" ||
        json->string_or("key", {}) != key)
        return std::nullopt;
    const auto age = clock.now() - json->int_or("found", 0);
    if (age < 0 || age > node_cache_s * 1'000'000) return std::nullopt;
    const auto* node = json->find("node");
    return node == nullptr ? std::nullopt : std::optional(node_from_json(*node));
}

}  // namespace

Ground this_ground(EnvironmentMap environment) {
    Ground ground;
    ground.environment = std::move(environment);
    struct utsname about {};
    if (::uname(&about) == 0) {
        ground.host = about.nodename;
        ground.machine = about.machine;
    }
    ground.run = base::run_command;
    return ground;
}

Node probe_node(const Ground& ground) {
    Node node;
    node.name = ground.host;
    node.machine = ground.machine;
    node.glibc = probe_glibc(ground);
    if (ground.machine == "x86_64")
        node.cpu = x86_level(value_of(read_ground(ground, "/proc/cpuinfo"), "flags"));
    probe_nvidia(ground, node);
    probe_amd(ground, node);
    node.python_program = python_program(ground);
    if (auto python = probe_python(ground, node.python_program)) node.pythons.push_back(std::move(*python));
    node.modules = loaded_modules(ground);
    return node;
}

Node known_node(const Ground& ground, const base::Clock& clock) {
    const fs::path folder = cache_folder(ground.environment);
    if (folder.empty()) return probe_node(ground);
    const std::string key = cache_key(ground, python_program(ground));
    const fs::path file = folder / ("node-" + ground.host + ".json");
    if (auto node = read_cache(file, key, clock)) {
        node->modules = loaded_modules(ground);
        return *node;
    }
    Node node = probe_node(ground);
    const Json json = Json::object({{"format", "wheelyard.node-cache/1"},
                                    {"key", key},
                                    {"found", clock.now()},
                                    {"node", node_to_json(node)}});
    // A home that is full or read-only costs a second next time, and nothing else.
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error) (void)base::replace_file(file, json.render_pretty());
    return node;
}

fs::path cache_folder(const EnvironmentMap& environment) {
    // XDG Base Directory Specification: a relative path is to be ignored.
    if (const auto xdg = environment.find("XDG_CACHE_HOME");
        xdg != environment.end() && fs::path(xdg->second).is_absolute())
        return fs::path(xdg->second) / "wheelyard";
    if (const auto home = environment.find("HOME");
        home != environment.end() && fs::path(home->second).is_absolute())
        return fs::path(home->second) / ".cache" / "wheelyard";
    return {};
}

void read_nvidia_smi(std::string_view text, Node& node) {
    constexpr std::size_t fields = 3;
    for (const auto line : base::split_lines(text)) {
        const auto parts = base::split(line, ',');
        if (parts.size() != fields) continue;
        const auto driver = Dotted::parse(base::trim(parts[2]));
        if (!driver) continue;
        node.driver = driver;
        // Drivers before 510 do not know compute_cap: "[N/A]" or a complaint.
        std::string arch = sm_of_capability(base::trim(parts[1]));
        const auto name = base::trim(parts[0]);
        if (arch.empty()) arch = sm_of_model(name);
        add_gpu(node, arch, name);
    }
}

std::optional<Dotted> driver_of_proc(std::string_view text) {
    for (const auto line : base::split_lines(text)) {
        if (!line.starts_with("NVRM version:")) continue;
        for (const auto word : base::split(line, ' ')) {
            // "550.54.15"; the machine's name has no dot and the date neither.
            auto version = Dotted::parse(word);
            if (version && version->numbers.size() >= 2) return version;
        }
    }
    return std::nullopt;
}

void read_rocminfo(std::string_view text, Node& node) {
    constexpr std::string_view isa = "amdgcn-amd-amdhsa--";
    std::string_view marketing;
    for (const auto line : base::split_lines(text)) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto key = base::trim(line.substr(0, colon));
        const auto value = base::trim(line.substr(colon + 1));
        if (key == "Marketing Name") marketing = value;
        if (key != "Name" || !value.starts_with(isa)) continue;
        const auto arch = value.substr(isa.size());
        // The same agent also lists the generic target of its family.
        if (arch.find("generic") == std::string_view::npos) add_gpu(node, std::string(arch), marketing);
    }
}

void read_amd_smi(std::string_view text, Node& node) {
    while (!text.empty() && text.front() != '{' && text.front() != '[') {
        const auto end = text.find('\n');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    const auto json = io::parse_json(text);
    if (!json) return;
    const auto* listed = json->as_array() != nullptr ? &*json : json->find("gpu_data");
    if (listed == nullptr) return;
    for (const auto& gpu : listed->items()) {
        const auto* asic = gpu.find("asic");
        if (asic == nullptr) continue;
        const std::string name = asic->string_or("market_name", {});
        add_gpu(node, gfx_of_smi(asic->string_or("target_graphics_version", {})), name == "N/A" ? "" : name);
    }
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
