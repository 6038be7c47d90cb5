// A Python that wheels are listed for, and the one that this shell uses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::avail_wheels {

using EnvironmentMap = std::map<std::string, std::string>;  // variables of a process

inline constexpr std::uint64_t max_pyvenv_bytes = 64 * base::kib;

struct Python {
    int minor = 11;                          // of Python 3
    bool free_threaded = false;              // 3.13t
    std::string full;                        // "3.11.4"; empty: unknown
    bool pypy = false;                       // otherwise CPython
    std::string pypy_abi = {};               // "pp73"; empty: unknown, or CPython
    bool debug = false;                      // a debug build of CPython, cp311d
    [[nodiscard]] std::string text() const;  // "3.11", "3.13t", "pypy3.10"
    // For people, as precise as known: "3.11.4", "3.13.1 (free-threaded)", "PyPy 3.10.14".
    [[nodiscard]] std::string display() const;
    bool operator==(const Python&) const = default;
};

// "3.11", "3.11.4", "cp311", "311", "3.13t", "pypy3.10", "pp310". Error "python.invalid".
[[nodiscard]] base::Result<Python> parse_python(std::string_view text);

// The Python of the active environment (VIRTUAL_ENV, CONDA_PREFIX: pyvenv.cfg or lib/python3.*), otherwise of
// the loaded module (EBVERSIONPYTHON), if that Python is the first on PATH. nullopt: neither, so wheels for
// every Python are listed.
[[nodiscard]] std::optional<Python> python_of_shell(const EnvironmentMap& environment);

// The full path of the first executable `name` on the environment's PATH; empty: not found.
[[nodiscard]] std::string program_on_path(const EnvironmentMap& environment, const std::string& name);
// The first `python3` or `python` on PATH, by folder; empty: none. Where the active environment or module has
// lost its Python, that one, although it is not there: another must not take its place unseen.
[[nodiscard]] std::string first_python(const EnvironmentMap& environment);
// The Python that a plain `pip` of this shell installs for: first_python() if it belongs to the active
// environment or module, otherwise the interpreter of the first `pip` on PATH, even if that is gone. Empty:
// none.
[[nodiscard]] std::string python_of_pip(const EnvironmentMap& environment);

}  // namespace wheelyard::avail_wheels
