// Each notation is a row: what stands before the name, what after it, and who writes so.
#include "builder/doctor/error_line.hpp"

#include <algorithm>
#include <array>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

struct Notation {
    std::string_view before;
    std::string_view after;
};
// The name ends where `after` begins.
constexpr auto quoted = std::to_array<Notation>({
    {"command '", "' failed: no such file or directory"},  // distutils
    {"command '", "' failed with exit code 127"},          // distutils, of a wrapper that finds no compiler
    {"unable to execute '", "': no such file or directory"},
    {"unable to execute '", "' - this package requires"},  // setuptools-rust
    {"[errno 2] no such file or directory: '", "'"},       // Python's subprocess
    {"[winerror 2] no such file or directory: '", "'"},
    {"error: linker `", "` not found"},  // rustc
    {"is `", "` not installed?"},        // Rust's cmake crate
    {"could not execute process `", "` (never executed)"},
    {"error: program '", "' not found"},  // meson
    {"exec: \"", "\": executable file not found in $path"},
    {"env: '", "': no such file or directory"},
    {"cannot execute '", "': execvp: no such file or directory"},  // gcc, of cc1plus
    {"can't exec \"", "\": no such file or directory"},            // Perl
});

constexpr std::string_view no_such_file = ": no such file or directory";

std::string program_of(std::string_view command) {
    command = base::trim(command);
    return std::string(base::base_name(command.substr(0, command.find(' '))));  // "rustc -vv"
}

bool is_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), base::is_ascii_digit);
}

// "[errno 2] …: 'requirements.txt'" names a file; a program has no dot, or lies in a folder of programs.
bool may_be_program(std::string_view path) {
    if (path.find("/bin/") != std::string_view::npos) return true;
    return path.find_first_of("/.") == std::string_view::npos && !path.empty();
}

std::string in_quotes(std::string_view lower) {
    for (const auto& one : quoted) {
        const auto at = lower.find(one.before);
        if (at == std::string_view::npos) continue;
        const std::string_view rest = lower.substr(at + one.before.size());
        const auto end = rest.find(one.after);
        if (end == std::string_view::npos) continue;
        const std::string_view name = rest.substr(0, end);
        if (one.after == "'" && !may_be_program(name)) continue;
        return program_of(name);
    }
    return {};
}

// The shells and make: "WHO: [line N: | N: ]NAME: not found", "WHO: NAME: No such file or directory".
std::string after_a_shell(std::string_view lower) {
    constexpr std::string_view zsh = "command not found: ";
    if (const auto at = lower.find(zsh); at != std::string_view::npos)
        return program_of(lower.substr(at + zsh.size()));
    std::string_view before;
    bool only_shells = false;
    for (const std::string_view end : {": command not found", ": not found"})
        if (lower.ends_with(end)) before = lower.substr(0, lower.size() - end.size());
    if (before.empty() && lower.ends_with(no_such_file)) {
        before = lower.substr(0, lower.size() - no_such_file.size());
        only_shells = true;  // cp and gcc write so of files
    }
    if (before.empty()) return {};
    auto parts = base::split(before, ':');
    const std::string_view name = base::trim(parts.back());
    parts.pop_back();
    if (name.empty() || name.find_first_of(" '\"()=") != std::string_view::npos) return {};
    std::string_view who;
    bool numbered = false;
    while (!parts.empty()) {
        const std::string_view part = base::trim(parts.back());
        parts.pop_back();
        const std::string_view number = part.starts_with("line ") ? part.substr(5) : part;
        if (is_digits(number)) {
            numbered = true;
            continue;
        }
        who = part;
        // Of a script, dash repeats the name: "./missing: 81: ./missing: flex: not found".
        numbered = numbered || (!parts.empty() && is_digits(base::trim(parts.back())));
        break;
    }
    const std::string_view shell = base::base_name(who);
    const bool is_shell = shell.ends_with("sh") || shell.starts_with("make") || shell.starts_with("gmake") ||
                          shell == "env" || shell.ends_with("configure") || shell.starts_with("execvp");
    const bool said_by_any = lower.ends_with("command not found");
    return is_shell || (!only_shells && (numbered || said_by_any)) ? program_of(name) : std::string();
}

}  // namespace

std::string missing_program(std::string_view lower) {
    constexpr std::string_view signs[] = {"not found", "no such file", "execute", "exit code 127",
                                          "not installed"};
    if (std::none_of(std::begin(signs), std::end(signs),
                     [&](auto sign) { return lower.find(sign) != std::string_view::npos; }))
        return {};
    // GNU programs quote with typographic marks in a UTF-8 locale.
    std::string text = base::replace_all(lower, "\u2018", "'");
    text = base::replace_all(text, "\u2019", "'");
    const std::string_view line = base::trim(text);
    std::string name = in_quotes(line);
    return name.empty() ? after_a_shell(line) : name;
}

}  // namespace wheelyard::builder
