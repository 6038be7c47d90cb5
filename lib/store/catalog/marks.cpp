#include "lib/store/catalog/marks.hpp"

#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::catalog {
namespace {

constexpr std::string_view equal = "==";

}  // namespace

bool is_upstream_index(std::string_view index) {
    return index.find('.') != std::string_view::npos;
}

bool is_version_name(std::string_view name) {
    return name.find(equal) != std::string_view::npos;
}

FileRow mark_named(const FileName& name) {
    FileRow mark;
    mark.index = name.index;
    mark.filename = name.filename;
    mark.facts_json = "{}";
    if (const auto at = name.filename.find(equal); at != std::string::npos) {
        const std::string project = name.filename.substr(0, at);
        const auto version = wheel::Version::parse(std::string_view(name.filename).substr(at + equal.size()));
        if (!version || !wheel::is_valid_name(project)) return mark;
        mark.project = wheel::normalize_name(project);
        mark.version = version->text();
        mark.filename = mark.project + std::string(equal) + mark.version;
    } else if (const auto file = wheel::parse_wheel_filename(name.filename)) {
        mark.project = file->project;
        mark.version = file->version.text();
    } else if (const auto sdist = wheel::parse_sdist_filename(name.filename)) {
        mark.project = sdist->project;
        mark.version = sdist->version.text();
    }
    return mark;
}

bool covers(const FileRow& mark, const FileRow& row) {
    if (!is_version_name(mark.filename)) return mark.filename == row.filename;
    const auto wanted = wheel::Specifier::parse(std::string(equal) + mark.version);
    const auto version = wheel::Version::parse(row.version);
    return wanted && version && mark.project == row.project && wanted->contains(*version);
}

void apply_marks(std::span<const FileRow> marks, FileRow& row) {
    for (const FileRow& mark : marks) {
        if (!covers(mark, row)) continue;
        if (mark.yanked && !row.yanked) {
            row.yanked = true;
            row.yanked_reason = mark.yanked_reason;
        }
        if (mark.state == FileState::quarantined && row.state == FileState::active) {
            row.state = mark.state;
            row.state_reason = mark.state_reason;
        }
    }
}

}  // namespace wheelyard::catalog
