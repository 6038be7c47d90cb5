#include "lib/inspect/dist_info/entry_points.hpp"

#include <algorithm>
#include <string>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

// "package.module:object.attribute": dotted identifiers. Accepts all non-ASCII characters, as Python does for
// most. Scripts need an object: pip refuses to install a wheel with a script without one.
bool is_object_reference(std::string_view value) {
    value = base::trim(value.substr(0, value.find('[')));  // drops the deprecated "[extra]" part
    const auto colon = value.find(':');
    const auto is_dotted = [](std::string_view part) {
        for (const std::string_view identifier : base::split(base::trim(part), '.')) {
            if (identifier.empty() || base::is_ascii_digit(identifier.front())) return false;
            if (!std::all_of(identifier.begin(), identifier.end(), [](char c) {
                    return base::is_ascii_alnum(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
                })) {
                return false;
            }
        }
        return true;
    };
    if (!is_dotted(value.substr(0, colon))) return false;
    return colon != std::string_view::npos && is_dotted(value.substr(colon + 1));
}

bool is_script_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find_first_of("/\\:") == std::string_view::npos;
}

}  // namespace

void check_entry_points(std::string_view member, std::string_view text, Findings& findings) {
    if (!base::is_utf8(text)) {
        findings.add("entry_points.invalid", member, "UTF-8", "invalid UTF-8");
        return;
    }
    std::string_view section;
    std::size_t number = 0;
    for (const std::string_view whole : base::split_lines(text)) {
        ++number;
        const std::string_view line = base::trim(whole);
        if (line.empty() || line.front() == '#' || line.front() == ';') continue;
        const std::string where = "line " + std::to_string(number) + ": " + std::string(line);
        if (line.front() == '[') {
            section = line.back() == ']' ? base::trim(line.substr(1, line.size() - 2)) : std::string_view();
            if (section.empty()) findings.add("entry_points.invalid", member, "[group]", where);
            continue;
        }
        const auto equals = line.find('=');
        if (section.empty() || equals == std::string_view::npos) {
            findings.add("entry_points.invalid", member, "name = module:attribute in a [group]", where);
            continue;
        }
        if (section != "console_scripts" && section != "gui_scripts")
            continue;  // other groups define their own syntax
        if (!is_script_name(base::trim(line.substr(0, equals)))) {
            findings.add("entry_points.script_name", member, "a plain file name", where);
        }
        if (!is_object_reference(base::trim(line.substr(equals + 1)))) {
            findings.add("entry_points.invalid", member, "module:attribute", where);
        }
    }
}

}  // namespace wheelyard::inspect
