// The signs of an error in a log, as a table.
#include "builder/first_error.hpp"

#include <array>

#include "builder/limits.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

// What a line must hold to count, in any letter case; the first line that holds any of them is the answer.
constexpr std::array<std::string_view, 20> signs = {
    "error:",              // gcc, clang, nvcc, pip ("ERROR:"), python's distutils, and every Python …Error:
    "error :",             // nvcc error   : 'cicc' died
    "died due to signal",  // nvcc's children under memory pressure
    "cmake error",         // CMake Error at …
    "undefined reference",  // ld
    "undefined symbol",     // the dynamic loader, on import
    "cannot find -l",       // ld
    "fatal:",               // git
    "failed: ",             // ninja
    "no space left on device",
    "disk quota exceeded",
    "killed signal terminated program",  // gcc's children, out of memory
    "out of memory",
    "command not found",
    "no such file or directory",
    "permission denied",
    "could not resolve host",
    "exception:",  // Python exceptions whose name does not end in Error
    "assertion failed",
    "segmentation fault",
};

// Lines that hold a sign and are no cause.
constexpr std::array<std::string_view, 5> harmless = {"-werror", "error: subprocess-exited-with-error",
                                                      "warning:", "note:", "0 errors"};

bool holds_any(std::string_view lower, const auto& words) {
    for (const auto word : words) {
        if (lower.find(word) != std::string_view::npos) return true;
    }
    return false;
}

std::string shorten(std::string_view line) {
    std::string text;
    line = base::trim(line);
    if (line.starts_with("| ")) line = base::trim(line.substr(2));  // a frame drawn around a traceback
    for (const char c : line) {
        if (text.size() == longest_error_line) return text + "…";
        text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
    return text;
}

}  // namespace

std::string find_first_error(std::string_view log, std::string_view phase) {
    if (!phase.empty()) {
        const auto start = log.find("@@wheelyard phase=" + std::string(phase) + " ");
        if (start != std::string_view::npos) log.remove_prefix(start);
    }
    for (const auto line : base::split_lines(log)) {
        if (line.starts_with("@@wheelyard")) continue;
        const std::string lower = base::ascii_lower(line);
        if (holds_any(lower, signs) && !holds_any(lower, harmless)) return shorten(line);
    }
    return "";
}

}  // namespace wheelyard::builder
