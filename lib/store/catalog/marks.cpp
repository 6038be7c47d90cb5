#include "lib/store/catalog/marks.hpp"

#include <algorithm>
#include <vector>

#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::catalog {
namespace {

constexpr std::string_view equal = "==";

std::string name_of_version(const wheel::Version& version) {
    return std::string(equal) + version.without_trailing_zeros().text();
}

// What a mark names. Equal versions have one name: six==1.0 and six==1.0.0.
std::string name_of(const FileRow& mark) {
    const auto version = wheel::Version::parse(mark.version);
    return is_version_name(mark.filename) && version ? name_of_version(*version) : mark.filename;
}

// The names of all marks that may cover a row. PEP 440: `==` without a local part matches any.
std::vector<std::string> names_of(const FileRow& row) {
    std::vector<std::string> names{row.filename};
    if (const auto version = wheel::Version::parse(row.version)) {
        names.push_back(name_of_version(*version));
        if (version->has_local()) names.push_back(name_of_version(version->without_local()));
    }
    return names;
}

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
    const auto names = names_of(row);
    return mark.project == row.project && std::find(names.begin(), names.end(), name_of(mark)) != names.end();
}

Marks::Marks(std::span<const FileRow> marks) {
    for (const FileRow& mark : marks)
        marks_.emplace(name_of(mark), &mark);
}

void Marks::apply(FileRow& row) const {
    if (marks_.empty()) return;
    for (const std::string& name : names_of(row)) {
        const auto found = marks_.find(name);
        if (found == marks_.end()) continue;
        const FileRow& mark = *found->second;
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
