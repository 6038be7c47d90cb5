// Checks member names: every reader and every common file system must interpret a name as the same relative
// path.
#include "lib/inspect/zip/zip.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Unicode's categories Cc (controls) and Cf (direction marks, joiners, byte order mark), sorted: a name with
// one shows another text than it has. uv refuses them.
constexpr CodePoints unseen[] = {
    {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
    {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},
    {0x200b, 0x200f},   {0x202a, 0x202e},   {0x2060, 0x2064},   {0x2066, 0x206f},   {0xfeff, 0xfeff},
    {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f}};

bool has_unseen(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const char32_t point = take_code_point(text, at);
        const auto* range = std::find_if(std::begin(unseen), std::end(unseen),
                                         [&](const CodePoints& r) { return point <= r.last; });
        if (range != std::end(unseen) && point >= range->first) return true;
    }
    return false;
}

// Says whether what is installed is not at the path that the name seems to have: installers refuse it, or
// follow `..`.
bool leads_elsewhere(std::string_view name) {
    const auto parts = base::split(name, '/');
    return name.starts_with('/') || parts.back() == "." ||
           std::find(parts.begin(), parts.end(), "..") != parts.end();
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
    if (name.find('\0') !=
        std::string_view::npos)  // where pip ends the name: it may be that of another member
        findings.add_final("zip.name_control", name);
    else if (has_unseen(name))
        findings.add("zip.name_control", name);
    if (const auto fault = path_fault(name); !fault.empty())
        leads_elsewhere(name) ? findings.add_final("zip.name_path", name, "a relative path", fault)
                              : findings.add("zip.name_path", name, "a relative path", fault);
    for (const std::string_view component : base::split(name, '/')) {
        if (component.size() > max_component_bytes)
            findings.add_final("zip.name_too_long", name,
                               std::to_string(max_component_bytes) + " bytes at most in a component",
                               std::to_string(component.size()));
    }
    return true;
}

void check_names_together(const std::vector<Member>& members, Findings& findings) {
    std::unordered_map<std::string_view, bool> are_folders;
    for (const Member& member : members) {
        const bool is_folder = member.name.ends_with('/');
        std::string_view name = member.name;
        if (is_folder) name.remove_suffix(1);  // "a" and "a/" are one path
        const auto [other, is_new] = are_folders.emplace(name, is_folder);
        if (is_new) continue;
        if (is_folder || other->second)
            findings.add("zip.name_duplicate", member.name);
        else  // pip installs the last one, uv the first
            findings.add_final("zip.name_duplicate", member.name);
    }
}

}  // namespace wheelyard::inspect
