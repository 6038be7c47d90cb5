// Detects the shell's Python without starting it.
#include "indexer/avail_wheels/node/python.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t max_script_bytes = 64 * base::kib;  // of pip: 300 bytes
constexpr int max_python_minor = 99;

std::string variable(const EnvironmentMap& environment, const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

bool lies_in(const std::string& program, const std::string& prefix) {
    if (prefix.empty() || program.empty()) return false;
    return fs::path(program).lexically_normal().parent_path() ==
           (fs::path(prefix) / "bin").lexically_normal();
}

bool is_executable(const std::string& file) {
    std::error_code error;
    return ::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file, error);
}

bool is_dangling(const std::string& file) {
    std::error_code error;
    return fs::is_symlink(file, error) && !fs::exists(file, error);
}

// The environment or module whose bin/ is `folder`, and whose Python is gone: of a virtual environment and of
// a module also where nothing is left. A shell goes on to the next Python on PATH, for which nobody chose
// wheels.
bool has_lost_its_python(const EnvironmentMap& environment, const std::string& folder) {
    const auto is_bin_of = [&](const char* name) {
        return lies_in(folder + "/python", variable(environment, name));
    };
    return is_bin_of("VIRTUAL_ENV") || is_bin_of("EBROOTPYTHON");
}

bool is_python_name(std::string_view name) {
    return name.starts_with("python") || name.starts_with("pypy");
}

// The interpreter of a script, from its first line `#!/path/python`, or, if that path is too long for the
// kernel, from pip's `'''exec' "/path/python" "$0" "$@"` in the second. Empty: not a Python.
std::string interpreter_of(const EnvironmentMap& environment, const std::string& script) {
    const auto text = base::read_file(script, max_script_bytes);
    if (!text || !text->starts_with("#!")) return {};
    const auto lines = base::split_lines(*text);
    std::string_view first = base::trim(lines.front().substr(2));
    constexpr std::string_view through_env = "/usr/bin/env ";
    if (first.starts_with(through_env)) {
        const std::string name(base::trim(first.substr(through_env.size())));
        return is_python_name(name) ? program_on_path(environment, name) : std::string();
    }
    constexpr std::string_view through_shell = "'''exec' ";
    if (lines.size() > 1 && lines[1].starts_with(through_shell)) {
        first = lines[1].substr(through_shell.size());
        if (first.starts_with('"')) first = first.substr(1, first.find('"', 1) - 1);
    }
    const std::string program(first.substr(0, first.find(' ')));
    // One that is gone is an answer, too: this pip installs for no other.
    return is_python_name(fs::path(program).filename().native()) && program.starts_with('/') ? program
                                                                                             : std::string();
}

std::optional<int> parse_minor(std::string_view text) {
    const auto minor = base::parse_decimal(text);
    if (!minor || *minor > static_cast<std::uint64_t>(max_python_minor)) return std::nullopt;
    return static_cast<int>(*minor);
}

// "11" or "11.4" after "3.".
std::optional<Python> parse_after_major(std::string_view text) {
    Python python;
    const auto dot = text.find('.');
    const auto minor = parse_minor(text.substr(0, dot));
    if (!minor) return std::nullopt;
    python.minor = *minor;
    if (dot != std::string_view::npos) {
        const auto patch = text.substr(dot + 1);
        if (!base::parse_decimal(patch.substr(0, patch.find_first_not_of("0123456789")))) return std::nullopt;
        python.full = "3." + std::string(text);
    }
    return python;
}

// venv writes "version = 3.11.2"; virtualenv and uv write "version_info = 3.11.2.final.0" or
// "version_info = 3.11.2".
std::optional<Python> python_of_config(const fs::path& prefix) {
    const auto text = base::read_file(prefix / "pyvenv.cfg", max_pyvenv_bytes);
    if (!text) return std::nullopt;
    for (const auto line : base::split_lines(*text)) {
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        const auto key = base::trim(line.substr(0, equals));
        if (key != "version" && key != "version_info") continue;
        auto parts = base::split(base::trim(line.substr(equals + 1)), '.');
        parts.resize(std::min<std::size_t>(parts.size(), 3));
        const auto python = parse_python(base::join({parts.begin(), parts.end()}, "."));
        if (python) return *python;
    }
    return std::nullopt;
}

std::optional<Python> python_of_library_folder(const fs::path& prefix) {
    constexpr std::string_view start = "python";
    std::optional<Python> newest;
    std::error_code error;
    for (fs::directory_iterator entry(prefix / "lib", error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        const bool is_pypy = name.starts_with("pypy");
        if (!is_pypy && !name.starts_with(start)) continue;
        const auto python =
            parse_python(is_pypy ? std::string_view(name) : std::string_view(name).substr(start.size()));
        if (python && (!newest || python->minor > newest->minor)) newest = *python;
    }
    return newest;
}

std::optional<Python> python_of_environment_folder(const fs::path& prefix) {
    auto python = python_of_config(prefix);
    auto by_folder = python_of_library_folder(prefix);
    if (!python) return by_folder;
    // Only the folder's name ("python3.13t", "pypy3.10") shows which kind of Python it is.
    if (by_folder && by_folder->minor == python->minor) {
        python->free_threaded = by_folder->free_threaded;
        python->pypy = by_folder->pypy;
    }
    return python;
}

}  // namespace

std::string Python::text() const {
    return (pypy ? "pypy3." : "3.") + std::to_string(minor) + (free_threaded ? "t" : "");
}

std::string Python::display() const {
    return (pypy ? "PyPy " : "") + (full.empty() ? "3." + std::to_string(minor) : full) +
           (free_threaded ? " (free-threaded)" : "") + (debug ? " (debug build)" : "");
}

base::Result<Python> parse_python(std::string_view text) {
    std::string_view rest = text;
    const bool free_threaded = rest.ends_with('t');
    if (free_threaded) rest.remove_suffix(1);
    const bool pypy = rest.starts_with("pp") || rest.starts_with("pypy");
    if (rest.starts_with("cp") || rest.starts_with("pp")) rest.remove_prefix(2);
    if (rest.starts_with("pypy")) rest.remove_prefix(4);
    std::optional<Python> python;
    if (rest.starts_with("3.")) {
        python = parse_after_major(rest.substr(2));
    } else if (rest.starts_with('3') && rest.size() > 1) {
        python = parse_after_major(rest.substr(1));
        if (python && !python->full.empty()) python.reset();  // "311.4"
    }
    if (!python || (pypy && free_threaded)) {
        return base::fail("python.invalid", "Not a Python 3 version", std::string(text.substr(0, 40)),
                          "write it as 3.11, 3.11.4 or cp311");
    }
    python->free_threaded = free_threaded;
    python->pypy = pypy;
    return *python;
}

std::string program_on_path(const EnvironmentMap& environment, const std::string& name) {
    const std::string path = variable(environment, "PATH");
    for (const auto folder : base::split(path, ':')) {
        if (folder.empty()) continue;
        std::string candidate = std::string(folder) + "/" + name;
        if (is_executable(candidate)) return candidate;
    }
    return {};
}

std::string first_python(const EnvironmentMap& environment) {
    const std::string path = variable(environment, "PATH");
    for (const auto folder : base::split(path, ':')) {
        if (folder.empty()) continue;
        std::string gone;
        for (const char* name : {"/python3", "/python"}) {
            std::string candidate = std::string(folder) + name;
            if (is_executable(candidate)) return candidate;
            if (gone.empty() && is_dangling(candidate)) gone = std::move(candidate);
        }
        if (!gone.empty() && lies_in(gone, variable(environment, "CONDA_PREFIX"))) return gone;
        if (has_lost_its_python(environment, std::string(folder)))
            return gone.empty() ? std::string(folder) + "/python" : gone;
    }
    return {};
}

std::string python_of_pip(const EnvironmentMap& environment) {
    std::string first = first_python(environment);
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX", "EBROOTPYTHON"}) {
        if (lies_in(first, variable(environment, name))) return first;
    }
    for (const char* name : {"pip", "pip3"}) {
        const std::string pip = program_on_path(environment, name);
        if (pip.empty()) continue;
        const std::string interpreter = interpreter_of(environment, pip);
        return interpreter.empty() ? first : interpreter;
    }
    return first;
}

std::optional<Python> python_of_shell(const EnvironmentMap& environment) {
    std::string first = first_python(environment);
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        const std::string prefix = variable(environment, name);
        if (!lies_in(first, prefix)) continue;
        if (auto python = python_of_environment_folder(prefix)) return python;
    }
    const std::string root = variable(environment, "EBROOTPYTHON");
    if (!root.empty() && !lies_in(first, root)) return std::nullopt;
    if (const auto python = parse_python(variable(environment, "EBVERSIONPYTHON"))) return *python;
    return std::nullopt;
}

}  // namespace wheelyard::avail_wheels
