// Detects the shell's Python without starting it.
#include "indexer/avail_wheels/node/python.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "indexer/avail_wheels/node/limits.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

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
        if (!name.starts_with(start)) continue;
        const auto python = parse_python(std::string_view(name).substr(start.size()));
        if (python && (!newest || python->minor > newest->minor)) newest = *python;
    }
    return newest;
}

std::optional<Python> python_of_environment_folder(const fs::path& prefix) {
    auto python = python_of_config(prefix);
    auto by_folder = python_of_library_folder(prefix);
    if (!python) return by_folder;
    // Only the folder's name ("python3.13t") shows that a Python is free-threaded.
    if (by_folder && by_folder->minor == python->minor) python->free_threaded = by_folder->free_threaded;
    return python;
}

}  // namespace

std::string Python::text() const {
    return "3." + std::to_string(minor) + (free_threaded ? "t" : "");
}

base::Result<Python> parse_python(std::string_view text) {
    std::string_view rest = text;
    const bool free_threaded = rest.ends_with('t');
    if (free_threaded) rest.remove_suffix(1);
    if (rest.starts_with("cp")) rest.remove_prefix(2);
    std::optional<Python> python;
    if (rest.starts_with("3.")) {
        python = parse_after_major(rest.substr(2));
    } else if (rest.starts_with('3') && rest.size() > 1) {
        python = parse_after_major(rest.substr(1));
        if (python && !python->full.empty()) python.reset();  // "311.4"
    }
    if (!python) {
        return base::fail("python.invalid", "Not a Python 3 version", std::string(text.substr(0, 40)),
                          "write it as 3.11, 3.11.4 or cp311");
    }
    python->free_threaded = free_threaded;
    return *python;
}

std::optional<Python> python_of_shell(const std::map<std::string, std::string>& environment) {
    if (const auto venv = environment.find("VIRTUAL_ENV");
        venv != environment.end() && !venv->second.empty()) {
        if (auto python = python_of_environment_folder(venv->second)) return python;
    }
    if (const auto module = environment.find("EBVERSIONPYTHON"); module != environment.end()) {
        if (const auto python = parse_python(module->second)) return *python;
    }
    return std::nullopt;
}

}  // namespace wheelyard::avail_wheels
