#include "lib/io/archive_entry.hpp"

#include "lib/base/text/text.hpp"

namespace wheelyard::io {
namespace {

std::string_view bytes_of(const char* plain, const char* utf8) {
    return plain ? plain : utf8 ? utf8 : "";
}

}  // namespace

std::optional<std::vector<std::string_view>> safe_parts(std::string_view name) {
    if (name.starts_with('/')) return std::nullopt;
    std::vector<std::string_view> parts;
    for (const auto part : base::split(name, '/')) {
        if (part == "..") return std::nullopt;
        if (!part.empty() && part != ".") parts.push_back(part);
    }
    return parts;
}

bool stays_inside(std::string_view target, std::size_t depth) {
    if (target.empty() || target.starts_with('/')) return false;
    std::size_t climbed = 0;
    bool descended = false;
    for (const auto part : base::split(target, '/')) {
        if (part == "..") {
            if (descended || ++climbed > depth) return false;
        } else if (!part.empty() && part != ".") {
            descended = true;
        }
    }
    return true;
}

std::string_view name_of(archive_entry* entry) {
    return bytes_of(archive_entry_pathname(entry), archive_entry_pathname_utf8(entry));
}

std::string_view symlink_of(archive_entry* entry) {
    return bytes_of(archive_entry_symlink(entry), archive_entry_symlink_utf8(entry));
}

std::string_view hardlink_of(archive_entry* entry) {
    return bytes_of(archive_entry_hardlink(entry), archive_entry_hardlink_utf8(entry));
}

}  // namespace wheelyard::io
