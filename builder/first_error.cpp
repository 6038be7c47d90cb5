// The signs of an error in a log, as a table.
#include "builder/first_error.hpp"

#include <algorithm>
#include <array>

#include "builder/limits.hpp"
#include "lib/base/file.hpp"
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

FirstError::FirstError(std::string_view phase)
    : marker_("@@wheelyard phase=" + std::string(phase) + " "), in_phase_(phase.empty()) {}

void FirstError::look_at(std::string_view line) {
    if (is_certain()) return;
    if (line.starts_with("@@wheelyard")) {
        if (!in_phase_ && line.starts_with(marker_)) {
            in_phase_ = true;
            found_.clear();
        }
        return;
    }
    if (!found_.empty()) return;
    const std::string lower = base::ascii_lower(line);
    if (holds_any(lower, signs) && !holds_any(lower, harmless)) found_ = shorten(line);
}

void FirstError::feed(std::string_view piece) {
    while (!piece.empty() && !is_certain()) {
        const auto end = piece.find('\n');
        rest_ += piece.substr(0, std::min(end, longest_log_line - rest_.size()));
        if (end == std::string_view::npos) return;
        look_at(rest_);
        rest_.clear();
        piece.remove_prefix(end + 1);
    }
}

std::string FirstError::finish() {
    look_at(rest_);
    rest_.clear();
    return found_;
}

std::string find_first_error(std::string_view log, std::string_view phase) {
    FirstError first(phase);
    first.feed(log);
    return first.finish();
}

std::string find_first_error_in(const std::filesystem::path& log, std::string_view phase) {
    const auto reader = base::FileReader::open(log);
    if (!reader) return "";
    FirstError first(phase);
    std::string piece(base::mib, '\0');
    const std::uint64_t size = reader->size();
    for (std::uint64_t at = size - std::min(size, log_scan_bytes); at < size && !first.is_certain();) {
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), size - at));
        if (!reader->read_at(at, piece.data(), length)) break;
        first.feed(std::string_view(piece).substr(0, length));
        at += length;
    }
    return first.finish();
}

}  // namespace wheelyard::builder
