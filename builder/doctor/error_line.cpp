// The signs of an error as a table, and the notations in which tools name a line of a file.
#include "builder/doctor/error_line.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "builder/attempt/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_speaker_bytes = 200;        // a longer beginning is no path of a program
constexpr std::string_view step_failed = "failed: ";  // ninja, before the output of the step

constexpr auto signs = std::to_array<std::string_view>({
    "error:",              // gcc, clang, nvcc, pip ("ERROR:"), python's distutils, and every Python …Error:
    "error :",             // nvcc error   : 'cicc' died
    "died due to signal",  // nvcc's children under memory pressure
    "cmake error",         // CMake Error at …
    "undefined reference",  // ld
    "undefined symbol",     // the dynamic loader, on import
    "cannot find -l",       // ld
    "fatal:",               // git
    "fatal   :",            // nvcc fatal   : Unsupported gpu architecture
    step_failed,
    "no space left on device",
    "disk quota exceeded",
    "killed signal terminated program",  // gcc's children, out of memory
    "terminated with signal",            // collect2
    "out of memory",
    "command not found",
    "no such file or directory",
    "permission denied",
    "could not resolve host",
    "exception:",  // Python exceptions whose name does not end in Error
    "assertion failed",
    "segmentation fault",
    "job killed:",             // PBS
    "oom_kill",                // Slurm
    ": not found",             // dash
    "no rule to make target",  // make
    "*** [",                   // make, after the output of the command
    "std::bad_alloc",
    "memoryerror",
    "signal: 9",                   // cargo
    "killed",                      // a shell, alone in its line
    "server terminated abruptly",  // Bazel
    "bus error",
    "illegal instruction",
    "fatal error",     // nvfortran, cl
    "-error-unknown",  // pgcc-Error-Unknown switch: -x
    "nvc++-f-",
    "nvc-f-",
    "nvfortran-f-",    // NVC++-F-0155-…
    "panicked at",     // Rust
    "not installed?",  // Rust's cmake crate
    "error #",         // Intel
    "doesn't match",
    "core dumped",
    "catastrophic error",  // Intel, EDG
});

// Where no line has a sign, the last of these lines is the best there is.
constexpr auto faint = std::to_array<std::string_view>({
    "failed",
    "failure",
    "aborted",
    "terminated",
    "exit status",
    "exit code",
    "exited with",
    "exit value",
    "cannot ",
    "could not",
    "unable to",
    "not found",
    "unexpected",
    "traceback",
});

// Errors that follow from one that another line names.
constexpr auto consequences = std::to_array<std::string_view>({
    "returned non-zero exit status",
    "calledprocesserror",
    "failed with exit status",
    "failed with exit code",
    "error: command ",
    "*** [",
    "*** waiting for",
    "error: subprocess-exited",
    "could not build wheels",
    "failed building wheel",
    "failed to build",
    "failed-wheel-build",
    "failed to build one or more",
    "error compiling objects",
    "ld returned ",
    "errors occurred!",  // -- Configuring incomplete, errors occurred!
    "linker command failed",
    "failed to run custom build command",  // cargo, before what the script wrote
    "error: failed to get `",              // cargo, before "Caused by:"
    "error: failed to download `",
    "error: failed to load source for",
});

// Parts of lines that contain a sign of an error but are not a cause.
constexpr auto harmless = std::to_array<std::string_view>(
    {" -werror", "error: subprocess-exited-with-error", "0 errors", "configure: error: in `",
     "has no attribute 'prepare_metadata_for_build_"});  // pip asks, and then does without
// Output of a configuration that probes for features.
constexpr auto checks =
    std::to_array<std::string_view>({"-- ", "checking ", "performing test ", "looking for "});
// Lists of files, whose names may be any words.
constexpr std::string_view added_file = "adding '";  // to a wheel
constexpr auto copied_files = std::to_array<std::string_view>({"copying ", "hard linking "});
// An error with one of these only says that something failed, unless it names a place in the source.
constexpr auto failed_words =
    std::to_array<std::string_view>({"fail", "exit status", "exit code", "exited", "terminated", "killed",
                                     "aborted", "segmentation fault", "core dumped"});
// How a line says that it is no error.
constexpr auto remarks =
    std::to_array<std::string_view>({"warning:", "note:", "[warning]", "[warn]", " - warning - "});
// What a library says of a part that it does without.
constexpr auto accepted =
    std::to_array<std::string_view>({"; dlerror:", "accepting this combination", "ignore above ", "(ignored)",
                                     "exception ignored in", "pip's dependency resolver does not currently"});
// How gcc says by which way it came to a line of a header: <system_error> is one.
constexpr auto includes = std::to_array<std::string_view>({"in file included from ", "from /"});

constexpr char escape = '\x1b';

bool holds_any(std::string_view lower, const auto& words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return lower.find(word) != std::string_view::npos; });
}

bool begins_with_any(std::string_view lower, const auto& prefixes) {
    const std::string_view text = base::trim(lower);
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return text.starts_with(prefix); });
}

bool lists_a_file(std::string_view lower) {
    return base::trim(lower).starts_with(added_file) ||
           (begins_with_any(lower, copied_files) && lower.find(" -> ") != std::string_view::npos);
}

// By glog and its relatives: "… 12:00:00.1: W tensorflow/a.cc:64] …", "[W socket.cpp:697] …".
bool is_logged_as_warning(std::string_view lower) {
    const std::string_view text = base::trim(lower).substr(0, max_parsed_line_bytes);
    auto level = text.starts_with("[w ") ? std::size_t{0} : text.find(": w ");
    if (level == std::string_view::npos && text.starts_with("w ")) level = 0;
    const auto file = std::min(text.find(".cc:"), text.find(".cpp:"));
    return level != std::string_view::npos && file != std::string_view::npos && level < file &&
           text.find(']', file) != std::string_view::npos;
}

std::uint64_t number_at(std::string_view text) {
    std::size_t digits = 0;
    while (digits < text.size() && base::is_ascii_digit(text[digits]))
        ++digits;
    return base::parse_decimal(text.substr(0, digits)).value_or(0);
}

// The first "FILE:12" or "FILE(12" (`open` stands between), where FILE is a word without quotes and with a
// dot or a slash. One pass, because the writer of the log chooses how often `open` occurs.
SourceLine named_before(std::string_view text, char open) {
    std::size_t begin = 0;
    bool is_plain = true;
    bool is_path = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == open && is_plain && is_path) {
            const std::uint64_t line = number_at(text.substr(at + 1));
            if (line > 0) return {std::string(text.substr(begin, at - begin)), line};
        }
        if (c == ' ' || c == '\t') {
            begin = at + 1;
            is_plain = true;
            is_path = false;
        }
        is_plain = is_plain && c != '"' && c != '\'' && c != '<' && c != '>' && c != '|';
        is_path = is_path || c == '.' || c == '/';
    }
    return {};
}

}  // namespace

std::span<const std::string_view> error_signs() {
    return signs;
}

bool is_only_a_check(std::string_view lower) {
    return begins_with_any(lower, checks);
}

bool is_remark(std::string_view lower) {
    // "x.c:3: warning: …", but not "error: … Note: …".
    const auto error = lower.find("error:");
    const bool is_called_so = std::any_of(remarks.begin(), remarks.end(), [&](std::string_view word) {
        const auto at = lower.find(word);
        return at != std::string_view::npos && at < error;
    });
    return is_called_so || is_logged_as_warning(lower) || holds_any(lower, accepted);
}

bool is_harmless(std::string_view lower) {
    return is_remark(lower) || holds_any(lower, harmless) || begins_with_any(lower, checks) ||
           begins_with_any(lower, includes) || lists_a_file(lower) || is_ignored_preload(lower) ||
           is_only_a_url(lower);
}

std::span<const std::string_view> faint_signs() {
    return faint;
}

bool is_only_a_step(std::string_view sign) {
    return sign == step_failed;
}

bool is_consequence(std::string_view lower) {
    return holds_any(lower, consequences);
}

bool is_source_quote(std::string_view line) {
    line = base::trim(line);
    const auto digits = line.find_first_not_of("0123456789");
    return digits != std::string_view::npos && digits > 0 && line.substr(digits).starts_with(" |");
}

std::string_view bare_word(std::string_view lower) {
    lower = base::trim(lower);
    if (lower == "memoryerror") return "memoryerror: ";
    if (lower == "std::bad_alloc") return "error: std::bad_alloc";
    constexpr std::pair<std::string_view, std::string_view> signals[] = {
        {"killed", "process killed by signal 9"},
        {"bus error", "process killed by signal 7"},
        {"illegal instruction", "process killed by signal 4"}};
    for (const auto& [word, said] : signals) {
        const auto at = lower.find(word);
        if (at == std::string_view::npos) continue;
        const std::string_view before = base::trim(lower.substr(0, at));
        const std::string_view after = lower.substr(at + word.size());
        // "sh: line 1: 4242 Killed  nvcc -c a.cu": the number of the process stands before the word.
        const bool is_shell = !before.empty() && base::is_ascii_digit(before.back()) &&
                              before.find(':') != std::string_view::npos;
        if (is_shell || (before.empty() && (after.empty() || after.starts_with("  ")))) return said;
    }
    return {};
}

bool quotes_source(std::string_view lower, std::string_view words) {
    const std::string text =
        base::replace_all(base::replace_all(base::trim(lower), "\u2018", "'"), "\u2019", "'");
    const std::string_view line = text;
    const auto error = line.find("error:");
    const auto at = line.find(words);
    if (error == std::string_view::npos || at == std::string_view::npos || at < error) return false;
    const SourceLine source = source_line_of(line.substr(0, error));
    const bool is_diagnostic =
        (source.line > 0 && line.starts_with(source.file)) || line.ends_with(" at (1)");
    if (!is_diagnostic) return false;
    char open = 0;  // the quotation mark before the words that none has closed
    for (auto i = error + 1; i < at; ++i) {
        const char c = line[i];
        const bool may_open = line[i - 1] == ' ' || line[i - 1] == '(';
        if (c == open) {
            open = 0;
        } else if (open == 0 && may_open && (c == '\'' || c == '"' || c == '`')) {
            open = c == '`' ? '\'' : c;
        }
    }
    return open != 0;
}

bool names_a_reason(std::string_view lower) {
    return !is_consequence(lower) && (!holds_any(lower, failed_words) || source_line_of(lower).line > 0);
}

bool is_ignored_preload(std::string_view lower) {
    return lower.find(" from ld_preload cannot be preloaded") != std::string_view::npos;
}

bool is_only_a_url(std::string_view lower) {
    lower = base::trim(lower);
    return (lower.starts_with("https://") || lower.starts_with("http://")) &&
           lower.find_first_of(" \t") == std::string_view::npos;
}

SourceLine source_line_of(std::string_view line) {
    line = base::trim(line.substr(0, max_parsed_line_bytes));
    constexpr std::string_view python = "File \"";
    if (line.starts_with(python)) {
        const auto end = line.find("\", line ", python.size());
        if (end == std::string_view::npos) return {};
        constexpr std::size_t between = 8;
        return {std::string(line.substr(python.size(), end - python.size())),
                number_at(line.substr(end + between))};
    }
    auto found = named_before(line, ':');
    return found.file.empty() ? named_before(line, '(') : found;
}

std::string shorten_line(std::string_view line) {
    std::string text;
    line = base::trim(line);
    if (line.starts_with("| ")) line = base::trim(line.substr(2));  // a box drawn around a traceback
    const auto shown = base::cut_utf8(line, max_error_line_bytes);
    for (const char c : shown)
        text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    return shown.size() < line.size() ? text + "…" : text;
}

std::string plain_line(std::string_view line) {
    while (line.ends_with('\r'))
        line.remove_suffix(1);
    if (const auto drawn = line.rfind('\r'); drawn != std::string_view::npos) line.remove_prefix(drawn + 1);
    std::string text;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] != escape) {
            text += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '[') {  // ECMA-48: ESC [ parameters final
            at += 2;
            while (at < line.size() && (line[at] < '@' || line[at] > '~'))
                ++at;
        }
    }
    return text;
}

std::optional<Speaker> speaker_of(std::string_view lower) {
    lower = base::trim(lower);
    // The first line of FlexNet's text is the compiler's, the others have no name in front.
    if (lower.find("flexnet") != std::string_view::npos ||
        lower.find("vendor daemon") != std::string_view::npos)
        return Speaker::license_manager;
    const auto colon = lower.substr(0, max_speaker_bytes).find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view name = lower.substr(0, colon);
    // Words in front make a sentence, except in "intel(r) icc: error" and "=>> pbs: job killed".
    if (const auto space = name.find_last_of(' '); space != std::string_view::npos) {
        const std::string_view before = base::trim(name.substr(0, space));
        if (before != "=>>" && !before.ends_with("(r)")) return std::nullopt;
        name.remove_prefix(space + 1);
    }
    name = base::base_name(name);
    if (name.ends_with("error") || name.ends_with("exception")) name = name.substr(0, name.find('.'));
    const auto dash = name.find_last_of('-');  // gcc-12
    if (dash != std::string_view::npos &&
        name.substr(dash + 1).find_first_not_of("0123456789.") == std::string_view::npos)
        name = name.substr(0, dash);
    // x86_64-linux-gnu-ld has three parts before it; hpcx-install is a program of its own.
    if (const auto last = name.find_last_of('-'); last != name.find('-')) name.remove_prefix(last + 1);
    if (name.empty()) return std::nullopt;
    const std::string wanted = " " + std::string(name) + " ";
    for (const SpeakerRow& one : speakers.rows)
        if (one.programs.find(wanted) != std::string_view::npos) return one.value;
    return std::nullopt;
}

}  // namespace wheelyard::builder
