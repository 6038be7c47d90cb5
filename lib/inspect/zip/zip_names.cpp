// Checks member names: every reader and every common file system must interpret a name as the same relative
// path.
#include "lib/inspect/zip/zip.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "lib/base/text/text.hpp"
#include "lib/inspect/zip/limits.hpp"

namespace wheelyard::inspect {
namespace {

bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// C0, DEL, and in UTF-8 the C1 controls (0xc2 0x80 … 0xc2 0x9f).
bool has_control(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x20 || byte == 0x7f) return true;
        if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0)
            return true;
    }
    return false;
}

// Why `name` is not a plain relative path; empty if it is.
std::string_view path_fault(std::string_view name) {
    if (name.starts_with('/')) return "absolute";
    if (name.find('\\') != std::string_view::npos) return "a backslash";
    if (name.size() >= 2 && base::is_ascii_alpha(name[0]) && name[1] == ':') return "a drive letter";
    if (name.ends_with('/')) name.remove_suffix(1);
    for (const std::string_view component : base::split(name, '/')) {
        if (component.empty()) return "an empty component";
        if (component == "." || component == "..") return "a component `.` or `..`";
    }
    return {};
}

}  // namespace

bool check_member_name(std::string_view name, bool utf8_flag, Findings& findings) {
    if (name.size() > max_member_name_bytes) {
        findings.add_final("zip.name_too_long", name,
                           std::to_string(max_member_name_bytes) + " bytes at most",
                           std::to_string(name.size()));
        return false;
    }
    const auto slashes = static_cast<std::size_t>(std::count(name.begin(), name.end(), '/'));
    if (slashes >= max_name_components) {
        findings.add_final("zip.name_too_long", name,
                           std::to_string(max_name_components) + " components at most",
                           std::to_string(slashes + 1));
        return false;
    }
    if (!base::is_utf8(name)) {
        // Declared as UTF-8, no installer reads the directory.
        if (utf8_flag)
            findings.add_final("zip.name_encoding", name, "UTF-8, as flag bit 11 says", "invalid UTF-8");
        else
            findings.add("zip.name_encoding", name, "UTF-8", "invalid UTF-8");
        return true;
    }
    if (!utf8_flag && !is_ascii(name))
        findings.add("zip.name_encoding", name, "flag bit 11 for a non-ASCII name", "unset");
    if (has_control(name)) findings.add("zip.name_control", name);
    if (const auto fault = path_fault(name); !fault.empty())
        findings.add("zip.name_path", name, "a relative path", fault);
    for (const std::string_view component : base::split(name, '/')) {
        if (component.size() > max_component_bytes)
            findings.add_final("zip.name_too_long", name,
                               std::to_string(max_component_bytes) + " bytes at most in a component",
                               std::to_string(component.size()));
    }
    return true;
}

void check_names_together(const std::vector<Member>& members, Findings& findings) {
    std::unordered_set<std::string_view> names;
    for (const Member& member : members) {
        std::string_view name = member.name;
        if (name.ends_with('/')) name.remove_suffix(1);  // "a" and "a/" are one path
        if (!names.insert(name).second) findings.add("zip.name_duplicate", member.name);
    }
}

}  // namespace wheelyard::inspect
