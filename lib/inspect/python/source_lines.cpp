#include "lib/inspect/python/source_lines.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {

namespace {

bool starts_name(char c) {
    return base::is_ascii_alpha(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

class LineReader {
  public:
    explicit LineReader(std::string_view source) : source_(source) {
        constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
        if (source_.starts_with(byte_order_mark)) source_.remove_prefix(byte_order_mark.size());
    }

    SourceLines read() {
        while (at_ < source_.size()) {
            line_.indent = skip_indent();
            line_.is_continued = false;
            read_line();
        }
        const Tokens all(found_.tokens);  // they move no more
        for (std::size_t i = 0; i < starts_.size(); ++i) {
            const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1] : all.size();
            found_.lines[i].tokens = all.subspan(starts_[i], end - starts_[i]);
        }
        return std::move(found_);
    }

  private:
    [[nodiscard]] char here(std::size_t more = 0) const {
        return at_ + more < source_.size() ? source_[at_ + more] : '\0';
    }

    std::size_t skip_indent() {
        constexpr std::size_t tab = 8;
        std::size_t indent = 0;
        for (; at_ < source_.size(); ++at_) {
            if (here() == ' ')
                ++indent;
            else if (here() == '\t')
                indent = (indent / tab + 1) * tab;
            else if (here() == '\f')
                indent = 0;
            else
                break;
        }
        return indent;
    }

    void end_statement() {
        if (found_.tokens.size() == start_) return;
        starts_.push_back(std::exchange(start_, found_.tokens.size()));
        found_.lines.push_back(line_);
    }

    void read_line() {
        std::size_t depth = 0;
        while (at_ < source_.size()) {
            const char c = here();
            if (c == '\n') {
                ++at_;
                if (depth == 0) break;
            } else if (c == '#') {
                at_ = std::min(source_.find('\n', at_), source_.size());
            } else if (c == '\\' && (here(1) == '\n' || here(1) == '\r')) {
                at_ += here(1) == '\r' && here(2) == '\n' ? 3U : 2U;
            } else if (c == ';' && depth == 0) {
                ++at_;
                end_statement();
                line_.is_continued = true;
            } else if (starts_name(c)) {
                read_name();
            } else if (c == '"' || c == '\'') {
                read_text(false);
            } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
                ++at_;
            } else {
                if (c == '(' || c == '[' || c == '{') ++depth;
                if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
                read_sign();
            }
        }
        end_statement();
    }

    void read_name() {
        const std::size_t start = at_;
        while (at_ < source_.size() && (starts_name(here()) || base::is_ascii_digit(here())))
            ++at_;
        const std::string_view name = source_.substr(start, at_ - start);
        constexpr std::size_t max_prefix = 2;
        const bool is_prefix = name.size() <= max_prefix && (here() == '"' || here() == '\'') &&
                               name.find_first_not_of("rRbBuUfFtT") == std::string_view::npos;
        if (is_prefix)
            read_text(name.find_first_of("bBfFtT") != std::string_view::npos);
        else
            found_.tokens.push_back({TokenKind::name, name});
    }

    void read_text(bool is_other) {
        const char quote = here();
        const bool is_long = here(1) == quote && here(2) == quote;
        at_ += is_long ? 3U : 1U;
        const std::size_t start = at_;
        std::size_t end = source_.size();
        while (at_ < source_.size()) {
            const char c = here();
            if (c == '\\') {
                is_other = true;
                at_ += 2;
                continue;
            }
            if (!is_long && c == '\n') {
                end = at_;
                break;
            }
            if (c == quote && (!is_long || (here(1) == quote && here(2) == quote))) {
                end = at_;
                at_ += is_long ? 3U : 1U;
                break;
            }
            ++at_;
        }
        at_ = std::min(at_, source_.size());
        found_.tokens.push_back({is_other ? TokenKind::other_text : TokenKind::text,
                                 source_.substr(start, std::min(end, source_.size()) - start)});
    }

    void read_sign() {
        const std::size_t start = at_++;
        if (base::is_ascii_digit(source_[start])) {
            while (base::is_ascii_alnum(here()) || here() == '.' || here() == '_')
                ++at_;
        } else if (here() == '=' &&
                   std::string_view("=!<>:+-*/|&").find(source_[start]) != std::string_view::npos) {
            ++at_;
        }
        found_.tokens.push_back({TokenKind::sign, source_.substr(start, at_ - start)});
    }

    std::string_view source_;
    std::size_t at_ = 0;
    SourceLine line_;
    SourceLines found_;
    std::vector<std::size_t> starts_;  // of the lines, in the tokens
    std::size_t start_ = 0;            // of the one that is read
};

}  // namespace

SourceLines read_source_lines(std::string_view source) {
    return LineReader(source).read();
}

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
