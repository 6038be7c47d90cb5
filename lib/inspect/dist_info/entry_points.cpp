// entry_points.txt (entry points specification): names and objects that installers turn into scripts. What
// pip and uv refuse both is final; tests/system/mirror_test.py asks them.
#include "lib/inspect/dist_info/dist_info.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "lib/base/text/text.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {
namespace {

struct Line {
    std::size_t number = 0;
    std::string_view text;
    std::string_view section;  // empty: none
    std::string_view name, value;
    bool is_section = false;
    bool has_equals = false;
    bool is_indented = false;  // uv goes on with the value of the line before

    [[nodiscard]] bool is_of_scripts() const {
        return section == "console_scripts" || section == "gui_scripts";
    }
    [[nodiscard]] bool is_script() const { return has_equals && is_of_scripts(); }
    [[nodiscard]] bool is_comment_of_uv() const { return text.front() == ';'; }  // pip has only `#`
};

void for_each_line(std::string_view text, const std::function<void(const Line&)>& take) {
    std::string_view section;
    std::size_t number = 0;
    for (const std::string_view whole : base::split_lines(text)) {
        Line line{.number = ++number, .text = base::trim(whole), .section = {}, .name = {}, .value = {}};
        if (line.text.empty() || line.text.front() == '#') continue;
        line.is_section = line.text.front() == '[';
        line.is_indented = whole.front() == ' ' || whole.front() == '\t';
        if (line.is_section)
            section = line.text.back() == ']' ? base::trim(line.text.substr(1, line.text.size() - 2))
                                              : std::string_view();
        line.section = section;
        const auto equals = line.text.find('=');
        line.has_equals = !line.is_section && equals != std::string_view::npos;
        if (line.has_equals) {
            line.name = base::trim(line.text.substr(0, equals));
            line.value = base::trim(line.text.substr(equals + 1));
        }
        take(line);
    }
}

enum class Taken { by_both, by_one, by_none };

bool is_of_identifier(char c) {  // all non-ASCII characters count, as most do in Python
    return base::is_ascii_alnum(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_dotted(std::string_view text) {
    const auto parts = base::split(text, '.');
    return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
        return !part.empty() && !base::is_ascii_digit(part.front()) &&
               std::all_of(part.begin(), part.end(), is_of_identifier);
    });
}

// Returns what precedes the first character of `text` for which `is_part` is false, and removes it.
template <typename Predicate>
std::string_view take_while(std::string_view& text, Predicate is_part) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_part);
    const auto taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(taken.size());
    return taken;
}

bool is_of_extra(char c) {
    return is_of_identifier(c) || c == '-';
}

// "[a, b]": flags of distlib, which may have values, a=b.
bool are_flags(std::string_view text) {
    if (!text.starts_with('[')) return false;
    text.remove_prefix(1);
    do {
        text = base::trim(text);
        if (take_while(text, is_of_extra).empty()) return false;
        if (text.starts_with('=')) {
            text.remove_prefix(1);
            if (take_while(text, is_of_identifier).empty()) return false;
        }
    } while (text.starts_with(',') && (text.remove_prefix(1), true));
    return base::trim(text).starts_with(']');
}

// distlib's ENTRY_RE: \w+([:.]\w+)* with one colon, perhaps flags; what follows does not count, except
// brackets. Further equals signs belong to the name.
bool does_pip_take(std::string_view name, std::string_view value) {
    std::string_view rest = value;
    take_while(rest, [](char c) { return c == '=' || c == ' '; });
    std::size_t colons = 0;
    if (take_while(rest, is_of_identifier).empty()) return false;
    while (rest.size() > 1 && (rest.front() == ':' || rest.front() == '.') && is_of_identifier(rest[1])) {
        if (rest.front() == ':') ++colons;
        rest.remove_prefix(1);
        take_while(rest, is_of_identifier);
    }
    const bool has_bracket = name.find_first_of("[]") != std::string_view::npos ||
                             value.find_first_of("[]") != std::string_view::npos;
    return colons == 1 && (!has_bracket || are_flags(base::trim(rest)));
}

// [\w.-]+ : [\w.-]+ [extras], with spaces anywhere between.
bool does_uv_take(std::string_view value) {
    const auto is_part = [](char c) { return is_of_extra(c) || c == '.'; };
    if (take_while(value, is_part).empty()) return false;
    value = base::trim(value);
    if (!value.starts_with(':')) return false;
    value = base::trim(value.substr(1));
    if (take_while(value, is_part).empty()) return false;
    value = base::trim(value);
    return value.empty() || (value.size() > 2 && value.starts_with('[') && value.ends_with(']'));
}

// "package.module:object.attribute [extra]"
Taken who_takes_object(std::string_view name, std::string_view value) {
    const bool by_pip = does_pip_take(name, value), by_uv = does_uv_take(value);
    if (!by_pip && !by_uv) return Taken::by_none;
    const std::string_view object = base::trim(value.substr(0, value.find('[')));
    const auto colon = object.find(':');
    const bool is_object = is_dotted(object.substr(0, colon)) && is_dotted(object.substr(colon + 1));
    return by_pip && by_uv && is_object ? Taken::by_both : Taken::by_one;
}

// Installers write a file of this name. pip makes another one of a name with spaces.
Taken who_takes_name(std::string_view name) {
    const auto parts = base::split(name, '/');
    const bool is_no_file = std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
        return part == ".." || part.size() > max_component_bytes;
    });
    if (name.starts_with('/') || name == "." || is_no_file || name.find('\0') != std::string_view::npos)
        return Taken::by_none;
    const bool is_plain = !name.empty() && name.find_first_of("/\\:") == std::string_view::npos &&
                          std::none_of(name.begin(), name.end(), [](char c) {
                              return static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
                          });
    return is_plain ? Taken::by_both : Taken::by_one;
}

}  // namespace

std::vector<std::string_view> script_names(std::string_view text) {
    std::vector<std::string_view> names;
    for_each_line(text, [&](const Line& line) {
        if (line.is_script() && !line.is_comment_of_uv()) names.push_back(line.name);
    });
    return names;
}

void check_entry_points(std::string_view member, std::string_view text, Findings& findings) {
    if (!base::is_utf8(text)) {
        findings.add_final("entry_points.invalid", member, "UTF-8", "invalid UTF-8");
        return;
    }
    std::set<std::string> seen;  // uv refuses a section or a name in it twice
    for_each_line(text, [&](const Line& line) {
        const std::string where = "line " + std::to_string(line.number) + ": " + std::string(line.text);
        const auto report = [&](Taken taken, std::string_view code, std::string_view expected) {
            if (taken == Taken::by_one) findings.add(code, member, expected, where);
            if (taken == Taken::by_none) findings.add_final(code, member, expected, where);
        };
        if (line.is_comment_of_uv()) {
            if (line.is_script() || (!line.has_equals && !line.section.empty()))
                report(Taken::by_one, "entry_points.invalid", "`#` before a comment");
            return;
        }
        const bool is_bad_line = line.section.empty() || (!line.is_section && !line.has_equals);
        if (is_bad_line) {
            report(line.section.empty() || (line.is_indented && !line.is_of_scripts()) ? Taken::by_one
                                                                                       : Taken::by_none,
                   "entry_points.invalid",
                   line.is_section ? "[group]" : "name = module:attribute in a [group]");
            return;
        }
        if (!seen.insert(std::string(line.section) + (line.is_section ? "]" : "=") + std::string(line.name))
                 .second)
            report(Taken::by_one, "entry_points.invalid", "each group and each name in it once");
        if (!line.is_script()) {  // other groups define their own syntax
            if (line.has_equals && line.name.empty()) report(Taken::by_one, "entry_points.invalid", "a name");
            return;
        }
        report(who_takes_name(line.name), "entry_points.script_name", "a plain file name");
        report(who_takes_object(line.name, line.value), "entry_points.invalid", "module:attribute");
    });
}

}  // namespace wheelyard::inspect
