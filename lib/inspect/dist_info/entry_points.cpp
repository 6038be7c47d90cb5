// entry_points.txt (entry points specification): names and objects that installers turn into scripts.
#include "lib/inspect/dist_info/dist_info.hpp"

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

bool has_no_object(std::string_view value) {
    return value.substr(0, value.find('[')).find(':') == std::string_view::npos;
}

// Whether the script would be written outside of the folder of programs.
bool leaves_folder(std::string_view name) {
    const auto parts = base::split(name, '/');
    return name.starts_with('/') || std::find(parts.begin(), parts.end(), "..") != parts.end();
}

bool is_script_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find_first_of("/\\:") == std::string_view::npos;
}

bool makes_scripts(std::string_view section) {
    return section == "console_scripts" || section == "gui_scripts";
}

}  // namespace

std::vector<std::string_view> script_names(std::string_view text) {
    std::vector<std::string_view> names;
    bool is_of_scripts = false;
    for (const std::string_view whole : base::split_lines(text)) {
        const std::string_view line = base::trim(whole);
        if (line.starts_with('['))
            is_of_scripts = line.ends_with(']') && makes_scripts(base::trim(line.substr(1, line.size() - 2)));
        else if (const auto equals = line.find('='); is_of_scripts && equals != std::string_view::npos)
            names.push_back(base::trim(line.substr(0, equals)));
    }
    return names;
}

void check_entry_points(std::string_view member, std::string_view text, Findings& findings) {
    if (!base::is_utf8(text)) {
        findings.add("entry_points.invalid", member, "UTF-8", "invalid UTF-8");
        return;
    }
    // What pip and uv refuse is final.
    const auto add = [&](bool is_final, std::string_view code, std::string_view expected,
                         const std::string& found) {
        is_final ? findings.add_final(code, member, expected, found)
                 : findings.add(code, member, expected, found);
    };
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
            add(!section.empty(), "entry_points.invalid", "name = module:attribute in a [group]", where);
            continue;
        }
        if (!makes_scripts(section)) continue;  // other groups define their own syntax
        const std::string_view name = base::trim(line.substr(0, equals));
        const std::string_view value = base::trim(line.substr(equals + 1));
        if (!is_script_name(name))
            add(leaves_folder(name), "entry_points.script_name", "a plain file name", where);
        if (!is_object_reference(value))
            add(has_no_object(value), "entry_points.invalid", "module:attribute", where);
    }
}

}  // namespace wheelyard::inspect
