// Sorts files by version. Each version is parsed once, and a plain release into two integers.
#include "indexer/pages/project_view.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/wheel/version.hpp"

namespace wheelyard::indexer {

namespace {

// A version of release numbers only, such as "1.26.4"; nearly all are. Missing numbers are zero. Holds up to
// four numbers of up to nine digits.
struct Release {
    std::uint64_t first_two = 0;
    std::uint64_t last_two = 0;
    auto operator<=>(const Release&) const = default;
};

std::optional<Release> parse_release(std::string_view version) {
    constexpr std::size_t max_numbers = 4;
    constexpr std::size_t max_digits = 9;
    constexpr std::uint64_t base = 10;
    std::array<std::uint64_t, max_numbers> numbers{};
    std::size_t digits = 0;
    std::size_t count = 0;
    for (const char c : version) {
        if (c == '.') {
            if (digits == 0 || ++count == max_numbers) return std::nullopt;
            digits = 0;
        } else if (c >= '0' && c <= '9' && ++digits <= max_digits) {
            numbers[count] = numbers[count] * base + static_cast<std::uint64_t>(c - '0');
        } else {
            return std::nullopt;
        }
    }
    if (digits == 0) return std::nullopt;
    return Release{numbers[0] << 32 | numbers[1], numbers[2] << 32 | numbers[3]};
}

// Sorts by key, then by version text and file name, so that "1.0" and "1.0.0" files each stay together.
template <typename Key, typename IsBefore>
void sort_by(const std::vector<Key>& keys, std::vector<catalog::FileRow>& files, IsBefore is_before) {
    const auto is_earlier = [&](std::size_t a, std::size_t b) {
        if (is_before(keys[a], keys[b])) return true;
        if (is_before(keys[b], keys[a])) return false;
        if (files[a].version != files[b].version) return files[a].version < files[b].version;
        return files[a].filename < files[b].filename;
    };
    // Files usually come in upload order, which is often sorted already.
    std::size_t in_order = 1;
    while (in_order < files.size() && !is_earlier(in_order, in_order - 1))
        ++in_order;
    if (in_order >= files.size()) return;
    std::vector<std::size_t> order(files.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), is_earlier);
    std::vector<catalog::FileRow> sorted;
    sorted.reserve(files.size());
    for (const std::size_t at : order)
        sorted.push_back(std::move(files[at]));
    files = std::move(sorted);
}

void sort_by_version(std::vector<catalog::FileRow>& files) {
    std::vector<std::optional<wheel::Version>> versions;
    versions.reserve(files.size());
    for (const auto& row : files) {
        auto version = wheel::Version::parse(row.version);
        versions.push_back(version ? std::optional(std::move(*version)) : std::nullopt);
    }
    sort_by(versions, files, [](const auto& a, const auto& b) {
        if (!a || !b) return !a && b.has_value();
        return *a < *b;
    });
}

void sort_files(std::vector<catalog::FileRow>& files) {
    std::vector<Release> releases;
    releases.reserve(files.size());
    for (const auto& row : files) {
        const auto release = parse_release(row.version);
        if (!release) return sort_by_version(files);
        releases.push_back(*release);
    }
    sort_by(releases, files, [](const Release& a, const Release& b) { return a < b; });
}

}  // namespace

ProjectView make_project_view(std::string project, std::vector<catalog::FileRow> files) {
    sort_files(files);
    return {.project = std::move(project), .files = std::move(files)};
}

bool is_offered(const catalog::FileRow& row, catalog::ProjectStatus status) {
    return row.state == catalog::FileState::active && status != catalog::ProjectStatus::quarantined;
}

base::Result<bool> read_project(const catalog::Catalog& catalog, const catalog::Inheritance& inheritance,
                                const std::string& index, const std::string& project, CatalogView& found,
                                catalog::Serial up_to) {
    found.source = index;
    if (inheritance.inherits(index)) {
        WHEELYARD_ASSIGN(auto source, catalog.source_of(inheritance, index, project));
        if (!source) return false;
        found.source = std::move(*source);
    }
    WHEELYARD_ASSIGN(auto project_row, catalog.project(found.source, project));
    if (!project_row) return false;
    auto& files = found.view.files;
    WHEELYARD_TRY(catalog.read_files_of_page(found.source, project, files, up_to));
    if (files.empty() && up_to != catalog::newest_of_all)
        WHEELYARD_TRY(catalog.read_files_of_page(found.source, project, files));
    if (found.source != index) {
        for (auto& row : files)
            row.index = index;
    }
    const auto hidden = std::partition(files.begin(), files.end(), [&](const catalog::FileRow& row) {
        return is_offered(row, project_row->status);
    });
    found.hidden.assign(std::move_iterator(hidden), std::move_iterator(files.end()));
    files.erase(hidden, files.end());
    sort_files(files);
    found.view.quarantined = found.hidden.size();
    found.view.project = project;
    found.view.status = project_row->status;
    found.view.status_reason = std::move(project_row->status_reason);
    return true;
}

base::Result<std::optional<CatalogView>> read_project(const catalog::Catalog& catalog,
                                                      const catalog::Inheritance& inheritance,
                                                      const std::string& index, const std::string& project) {
    std::optional<CatalogView> found(std::in_place);
    WHEELYARD_ASSIGN(const bool is_shown, read_project(catalog, inheritance, index, project, *found));
    if (!is_shown) found.reset();
    return found;
}

std::vector<std::string_view> versions_of(const ProjectView& view) {
    std::vector<std::string_view> versions;
    versions.reserve(view.files.size());
    for (const auto& row : view.files) {
        if (versions.empty() || versions.back() != row.version) versions.push_back(row.version);
    }
    return versions;
}

}  // namespace wheelyard::indexer
