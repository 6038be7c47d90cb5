#include "lib/inspect/python/conditions.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

constexpr unsigned max_condition_depth = 20;

// Values of sys.platform, os.name and platform.system(), and the starts of them that code compares.
constexpr std::array<std::string_view, 4> linux_names{"linux", "linux2", "posix", "Linux"};
constexpr std::array<std::string_view, 22> other_systems{
    "win32",   "win",     "cygwin", "msys",   "nt",      "ce",         "java", "darwin",
    "freebsd", "openbsd", "netbsd", "sunos5", "sunos",   "emscripten", "wasi", "ios",
    "aix",     "Windows", "Darwin", "Java",   "FreeBSD", "Microsoft"};

bool names_have(const auto& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// The parts between this word outside of all brackets.
std::vector<Tokens> parts_between(Tokens tokens, std::string_view word) {
    std::vector<Tokens> parts;
    std::size_t depth = 0, start = 0;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
        const Token& token = tokens[at];
        if (token.opens_bracket()) ++depth;
        if (token.closes_bracket() && depth > 0) --depth;
        if (depth > 0 || !token.is_name(word)) continue;
        parts.push_back(tokens.subspan(start, at - start));
        start = at + 1;
    }
    parts.push_back(tokens.subspan(start));
    return parts;
}

bool has_name(Tokens tokens, std::string_view name) {
    return std::any_of(tokens.begin(), tokens.end(), [&](const Token& one) { return one.is_name(name); });
}

// `sys.platform.startswith("win")`, `os.name == "nt"`, `platform.system() in ("Windows", "Darwin")`.
std::optional<bool> compares_systems(Tokens tokens) {
    bool has_linux = false, has_other = false, is_negated = false;
    for (const Token& token : tokens) {
        if (token.kind == TokenKind::other_text) return std::nullopt;
        if (token.is_sign("!=") || token.is_name("not")) is_negated = true;
        if (token.kind != TokenKind::text) continue;
        if (names_have(linux_names, token.text))
            has_linux = true;
        else if (names_have(other_systems, token.text))
            has_other = true;
        else
            return std::nullopt;
    }
    if (!has_linux && !has_other) return std::nullopt;
    return has_linux != is_negated;
}

// `IS_WINDOWS`, `_is_mac`, `compat.PY2`.
std::optional<bool> names_a_system(std::string_view name) {
    const std::string lower = base::ascii_lower(name);
    for (const std::string_view word :
         {"windows", "win32", "is_win", "iswin", "darwin", "macos", "is_mac", "ismac", "osx"})
        if (lower.find(word) != std::string::npos) return false;
    if (lower == "py2" || lower == "is_py2" || lower == "win" || lower == "mac") return false;
    if (lower == "py3" || lower == "is_py3" || lower.find("linux") != std::string::npos) return true;
    return std::nullopt;
}

std::optional<bool> plain_condition(Tokens tokens) {
    if (tokens.empty()) return std::nullopt;
    if (has_name(tokens, "TYPE_CHECKING")) return false;
    if (has_name(tokens, "__name__")) return false;
    if (has_name(tokens, "version_info") || has_name(tokens, "hexversion")) return std::nullopt;
    if (const auto system = compares_systems(tokens)) return system;
    const Token& last = tokens.back();
    const bool is_chain = std::all_of(tokens.begin(), tokens.end(), [](const Token& token) {
        return token.kind == TokenKind::name || token.is_sign('.');
    });
    if (tokens.size() == 1 && (last.is_name("True") || last.is_sign('1'))) return true;
    if (tokens.size() == 1 && (last.is_name("False") || last.is_sign('0'))) return false;
    if (tokens.size() > 2 && last.is_name("None") && tokens[tokens.size() - 2].is_name("is")) return true;
    return is_chain ? names_a_system(last.text) : std::nullopt;
}

}  // namespace

std::optional<bool> condition_holds(Tokens condition, unsigned depth) {
    if (depth > max_condition_depth) return std::nullopt;
    for (const auto& [word, deciding] : {std::pair<std::string_view, bool>("or", true), {"and", false}}) {
        const auto parts = parts_between(condition, word);
        if (parts.size() == 1) continue;
        bool all_known = true;
        for (const Tokens part : parts) {
            const auto holds = condition_holds(part, depth + 1);
            if (holds == deciding) return deciding;
            all_known = all_known && holds;
        }
        return all_known ? std::optional(!deciding) : std::nullopt;
    }
    if (!condition.empty() && condition.front().is_name("not")) {
        const auto holds = condition_holds(condition.subspan(1), depth + 1);
        return holds ? !*holds : true;
    }
    if (condition.size() > 2 && condition.front().is_sign('(') && condition.back().is_sign(')'))
        return condition_holds(condition.subspan(1, condition.size() - 2), depth + 1);
    return plain_condition(condition);
}

std::uint8_t caught_by(Tokens types) {
    constexpr std::uint8_t all = caught_import | caught_missing | caught_os | caught_attribute;
    if (types.empty()) return all;
    struct Row {
        std::string_view name;
        std::uint8_t caught;
    };
    static constexpr Row rows[] = {{"Exception", all},
                                   {"BaseException", all},
                                   {"ImportError", caught_import | caught_missing},
                                   {"ModuleNotFoundError", caught_missing},
                                   {"OSError", caught_os},
                                   {"IOError", caught_os},
                                   {"EnvironmentError", caught_os},
                                   {"AttributeError", caught_attribute}};
    std::uint8_t caught = 0;
    for (const Token& token : types) {
        if (token.is_name("as")) break;
        for (const Row& row : rows)
            if (token.is_name(row.name)) caught |= row.caught;
    }
    return caught;
}

}  // namespace wheelyard::inspect
