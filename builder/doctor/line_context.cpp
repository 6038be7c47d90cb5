// Warnings end by indentation, setuptools' also by its marks; probes end with the next step.
#include "builder/doctor/line_context.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "builder/doctor/error_line.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_warning_lines = 60;
constexpr std::size_t max_probe_lines = 8;  // of one compiler or linker, after the line that names the probe
constexpr std::size_t max_dump_lines = 60;
constexpr std::string_view setuptools_mark = "!!";

constexpr auto words = std::to_array<std::string_view>({
    "warning: ",  // x.py:1: UserWarning: …, followed by a line of the source
    "cmake warning",
    "cmake deprecation warning",
    "_configtest.",  // distutils, numpy.distutils, mpi4py
    "conftest.c",
    "conftest.f",
    "conftest.o",
    "-o conftest",
    "./conftest",
    "./_configtest",  // autoconf
    "cmakescratch",
    "cmaketmp",
    "cmtc_",
    "trycompile-",  // CMake's try_compile
    "meson-private",
    "sanitycheck",
    "testfile.c",   // meson
    "flagcheck.c",  // pybind11's setup helpers
    "/tmp/tmp",
    "test_openmp.c",  // distutils' has_function
    "failed with the following output:",
    "failed to compile with the following output:",  // CMakeError.log
});
constexpr std::string_view dump_opening = "with the following output:";
constexpr std::size_t warnings = 3;  // the first words

// Lines that begin so belong to the next step, even if they name the probe.
constexpr auto next_steps = std::to_array<std::string_view>(
    {"removing", "building ", "running ", "creating ", "copying ", "error: ", "cmake error",
     "configure: error", "traceback", "make", "ninja", "failed: "});

bool begins_next_step(std::string_view lower) {
    return std::any_of(next_steps.begin(), next_steps.end(),
                       [&](std::string_view word) { return lower.starts_with(word); });
}

std::size_t indent_of(std::string_view line) {
    return std::min(line.find_first_not_of(" \t"), line.size());
}

// Python's tempfile: "/tmp/tmpab12_d34.c", "/tmp/tmpab12_d34/test.c".
bool names_a_temporary_source(std::string_view lower) {
    constexpr std::string_view prefix = "/tmp/tmp";
    constexpr std::size_t random = 8;
    for (auto at = lower.find(prefix); at != std::string_view::npos; at = lower.find(prefix, at + 1)) {
        std::string_view rest = lower.substr(at + prefix.size());
        const auto is_random = [](char c) {
            return base::is_ascii_digit(c) || c == '_' || (c >= 'a' && c <= 'z');
        };
        if (rest.size() <= random || !std::all_of(rest.begin(), rest.begin() + random, is_random)) continue;
        rest.remove_prefix(random);
        if (rest.starts_with('/')) rest.remove_prefix(std::min(rest.find_first_of("./:\" ", 1), rest.size()));
        if (rest.starts_with(".c") || rest.starts_with(".f")) return true;
    }
    return false;
}

}  // namespace

std::span<const std::string_view> LineContext::openings() {
    return words;
}

bool names_a_probe(std::string_view lower) {
    lower = lower.substr(0, max_parsed_line_bytes);
    return std::any_of(words.begin() + warnings, words.end(),
                       [&](std::string_view word) {
                           return word != "/tmp/tmp" && lower.find(word) != std::string_view::npos;
                       }) ||
           names_a_temporary_source(lower);
}

void LineContext::pass(std::string_view line) {
    is_quoted_ = false;
    if (probe_ > 0) {
        --probe_;
        const std::string lower = base::ascii_lower(base::trim(line));
        const bool is_next = begins_next_step(lower);
        const bool is_command =
            lower.find(" -o ") != std::string::npos || lower.find(" -c ") != std::string::npos;
        if (is_dump_) {
            // The probe's build says "make: *** […]" and "src.c:1:10: error: …"; a file in a folder is
            // another.
            const bool is_built = lower.starts_with("make") || lower.starts_with("ninja");
            const auto source = source_line_of(line);
            const bool is_other = source.line > 0 && source.file.find('/') != std::string::npos;
            if (((is_next && !is_built) || is_other || is_command) && !names_a_probe(lower)) probe_ = 0;
            if (probe_ == 0) is_dump_ = false;
            return pass_warning(line);
        }
        // A command on another file, and the compiler's word about it, are no probe's.
        if (is_next || ((is_command || source_line_of(line).line > 0) && !names_a_probe(lower))) probe_ = 0;
    }
    pass_warning(line);
}

void LineContext::pass_warning(std::string_view line) {
    if (warning_ == Warning::none) return;
    const std::string_view text = base::trim(line);
    if (warning_ == Warning::until_mark) {
        is_quoted_ = true;
        if (text == setuptools_mark) warning_ = Warning::one_line;
    } else if (warning_ == Warning::one_line && text == setuptools_mark) {
        is_quoted_ = true;
        warning_ = Warning::until_mark;
    } else if (!text.empty() && indent_of(line) <= indent_) {
        warning_ = Warning::none;
    } else {
        is_quoted_ = true;
        if (warning_ == Warning::one_line) warning_ = Warning::none;
    }
    if (++lines_ > max_warning_lines) warning_ = Warning::none;
}

void LineContext::open(std::string_view line, std::string_view lower) {
    const std::string_view text = base::trim(lower);
    if (names_a_probe(lower)) {
        const bool opens_dump = lower.find(dump_opening) != std::string_view::npos;
        if (opens_dump || (is_dump_ && probe_ > 0)) {
            if (opens_dump) probe_ = max_dump_lines;
            is_dump_ = true;
        } else if (!begins_next_step(text)) {
            if (probe_ == 0) ++probes_;
            probe_ = max_probe_lines;
            is_dump_ = false;
        }
    }
    const auto python = lower.find("warning: ");
    const bool is_python = python != std::string_view::npos && python > 0 && lower[python - 1] >= 'a' &&
                           lower[python - 1] <= 'z';
    const bool is_cmake = text.starts_with("cmake warning") || text.starts_with("cmake deprecation warning");
    if (!is_python && !is_cmake) return;
    warning_ = is_cmake ? Warning::until_dedent : Warning::one_line;
    indent_ = indent_of(line);
    lines_ = 0;
}

namespace {

constexpr std::size_t max_message_lines = 12;
constexpr std::size_t max_message_bytes = 2048;
constexpr std::string_view header = "CMake Error";

}  // namespace

std::optional<CMakeMessage::Whole> CMakeMessage::pass(std::string_view line, std::uint64_t number) {
    const std::string_view text = base::trim(line);
    std::optional<Whole> ended;
    if (is_open_) {
        const bool goes_on = text.empty() || indent_of(line) > indent_;
        if (goes_on && lines_ < max_message_lines) {
            if (!text.empty() && whole_.text.size() + text.size() < max_message_bytes) {
                whole_.text.append(" ").append(text);
                ++lines_;
            }
            return std::nullopt;
        }
        ended = finish();
    }
    if (text.starts_with(header) && text.ends_with(':')) {
        is_open_ = true;
        indent_ = indent_of(line);
        lines_ = 0;
        whole_ = {number, std::string(text.substr(0, max_message_bytes))};
    }
    return ended;
}

std::optional<CMakeMessage::Whole> CMakeMessage::finish() {
    if (!std::exchange(is_open_, false) || lines_ == 0) return std::nullopt;
    return std::move(whole_);
}

}  // namespace wheelyard::builder
