// Sorts files by version. Each version is parsed once, and a plain release into two integers.
#include "indexer/pages/project_view.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
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

// By key, then by version text and file name, so that "1.0" and "1.0.0" files each stay together.
template <typename Key>
bool is_before(const Key& a, const ListedFile& first, const Key& b, const ListedFile& second) {
    if (a < b) return true;
    if (b < a) return false;
    return std::tie(first.version, first.filename) < std::tie(second.version, second.filename);
}

template <typename Key>
void sort_by(const std::vector<Key>& keys, std::vector<catalog::FileRow>& files) {
    const auto listed = [&](std::size_t at) { return ListedFile{files[at].version, files[at].filename}; };
    const auto is_earlier = [&](std::size_t a, std::size_t b) {
        return is_before(keys[a], listed(a), keys[b], listed(b));
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

// An invalid version is nullopt, which is before all others.
std::optional<wheel::Version> version_of(std::string_view text) {
    auto version = wheel::Version::parse(text);
    return version ? std::optional(std::move(*version)) : std::nullopt;
}

void sort_by_version(std::vector<catalog::FileRow>& files) {
    std::vector<std::optional<wheel::Version>> versions;
    versions.reserve(files.size());
    for (const auto& row : files)
        versions.push_back(version_of(row.version));
    sort_by(versions, files);
}

void sort_files(std::vector<catalog::FileRow>& files) {
    std::vector<Release> releases;
    releases.reserve(files.size());
    for (const auto& row : files) {
        const auto release = parse_release(row.version);
        if (!release) return sort_by_version(files);
        releases.push_back(*release);
    }
    sort_by(releases, files);
}

}  // namespace

ProjectView make_project_view(std::string project, std::vector<catalog::FileRow> files) {
    sort_files(files);
    return {.project = std::move(project), .files = std::move(files)};
}

bool is_listed_before(const ListedFile& first, const ListedFile& second) {
    return is_before(version_of(first.version), first, version_of(second.version), second);
}

bool is_offered(const catalog::FileRow& row, catalog::ProjectStatus status) {
    return row.state == catalog::FileState::active && status != catalog::ProjectStatus::quarantined;
}

namespace {

// Finds which index supplies each project, and its status; the number of files of each that is shown.
base::Result<std::vector<std::size_t>> find_sources(const catalog::Catalog& catalog,
                                                    const catalog::Inheritance& inheritance,
                                                    std::span<ProjectToRead> wanted) {
    std::vector<std::size_t> files(wanted.size());
    std::map<std::string, std::vector<std::size_t>> by_index;
    for (std::size_t at = 0; at < wanted.size(); ++at) {
        wanted[at].is_shown = false;
        by_index[wanted[at].index].push_back(at);
    }
    for (auto& [index, left] : by_index) {
        const auto order = inheritance.inherits(index) ? inheritance.order(index) : std::vector{index};
        for (const std::string& from : order) {
            std::vector<std::string> names;
            for (const std::size_t at : left)
                names.push_back(wanted[at].project);
            WHEELYARD_ASSIGN(auto heads, catalog.project_heads(from, names));
            std::map<std::string_view, catalog::ProjectHead*> by_name;
            for (catalog::ProjectHead& head : heads)
                by_name.emplace(head.row.project, &head);
            std::erase_if(left, [&](std::size_t at) {
                ProjectToRead& project = wanted[at];
                const auto head = by_name.find(project.project);
                if (head == by_name.end()) return inheritance.owns(from, project.project);
                project.is_shown = true;
                project.found->source = from;
                project.found->view.project = project.project;
                project.found->view.status = head->second->row.status;
                project.found->view.status_reason = head->second->row.status_reason;
                files[at] = head->second->files;
                return true;
            });
        }
    }
    return files;
}

void sort_and_hide(ProjectToRead& project) {
    CatalogView& found = *project.found;
    auto& files = found.view.files;
    if (found.source != project.index) {
        for (auto& row : files)
            row.index = project.index;
    }
    const auto hidden = std::partition(files.begin(), files.end(), [&](const catalog::FileRow& row) {
        return is_offered(row, found.view.status);
    });
    found.hidden.assign(std::move_iterator(hidden), std::move_iterator(files.end()));
    files.erase(hidden, files.end());
    sort_files(files);
    found.view.variants = catalog::variants_files(files);
    found.view.quarantined = found.hidden.size();
}

}  // namespace

base::Result<std::size_t> read_projects(const catalog::Catalog& catalog,
                                        const catalog::Inheritance& inheritance,
                                        std::span<ProjectToRead> wanted, std::size_t max_rows,
                                        catalog::Serial up_to) {
    WHEELYARD_ASSIGN(const auto files, find_sources(catalog, inheritance, wanted));
    std::size_t count = 0;
    std::map<std::pair<std::string, std::string>, std::vector<catalog::PageFiles>>
        pages;  // by index and source
    for (std::size_t rows = 0; count != wanted.size() && rows < max_rows; ++count) {
        ProjectToRead& project = wanted[count];
        rows += 1 + files[count];
        if (project.is_shown)
            pages[{project.index, project.found->source}].push_back(
                {project.project, &project.found->view.files});
    }
    for (const auto& [from, of_source] : pages)
        WHEELYARD_TRY(catalog.read_files_of_pages(from.second, of_source, up_to));
    for (ProjectToRead& project : wanted.first(count)) {
        if (project.is_shown) sort_and_hide(project);
    }
    return count;
}

base::Result<std::optional<CatalogView>> read_project(const catalog::Catalog& catalog,
                                                      const catalog::Inheritance& inheritance,
                                                      const std::string& index, const std::string& project) {
    std::optional<CatalogView> found(std::in_place);
    ProjectToRead wanted{.index = index, .project = project, .found = &*found};
    WHEELYARD_TRY(read_projects(catalog, inheritance, {&wanted, 1}, 1));
    if (!wanted.is_shown) found.reset();
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
