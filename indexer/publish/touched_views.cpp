#include "indexer/publish/touched_views.hpp"

#include <algorithm>
#include <cstddef>

namespace wheelyard::indexer {
namespace {

// Read buffers are reused until their capacity exceeds this multiple of a read.
constexpr std::size_t max_buffer_factor = 4;

}  // namespace

TouchedViews::TouchedViews(const catalog::Catalog& catalog, const catalog::Inheritance& inheritance,
                           const TouchedProjects& touched, catalog::Serial up_to)
    : catalog_(catalog), inheritance_(inheritance), up_to_(up_to) {
    order_.reserve(touched.size());
    for (const auto& project : touched)
        order_.push_back(&project);
    std::stable_sort(order_.begin(), order_.end(),
                     [](const auto* a, const auto* b) { return a->second.newest < b->second.newest; });
}

std::size_t TouchedViews::buffered_rows() const {
    std::size_t rows = 0;
    for (const ProjectRead& project : read_)
        rows += project.found.view.files.capacity() + project.found.hidden.capacity();
    return rows;
}

base::Result<std::span<ProjectRead>> TouchedViews::read_some(std::size_t max_rows) {
    // The last project of a read may be huge; its memory is not kept for the others.
    if (buffered_rows() > max_buffer_factor * max_rows) read_.clear();
    const std::size_t at_once = std::min({next_at_once_, max_rows, order_.size() - next_});
    if (at_once == 0) return std::span<ProjectRead>();
    if (read_.size() < at_once) read_.resize(at_once);
    std::vector<ProjectToRead> wanted;
    for (std::size_t at = 0; at < at_once; ++at) {
        read_[at].touched = order_[next_ + at];
        const ProjectName& name = read_[at].touched->first;
        wanted.push_back({.index = name.index, .project = name.project, .found = &read_[at].found});
    }
    std::size_t count = 0;
    const auto read = [&]() -> base::Status {
        WHEELYARD_ASSIGN(const auto read_at, catalog_.last_serial());
        WHEELYARD_ASSIGN(count, read_projects(catalog_, inheritance_, wanted, max_rows, up_to_));
        for (std::size_t at = 0; at < count; ++at) {
            read_[at].is_shown = wanted[at].is_shown;
            read_[at].read_at = read_at;
        }
        return {};
    };
    WHEELYARD_TRY(catalog_.in_one_snapshot(read));
    next_ += count;
    // As many as had room, and room to grow: those that have none are asked for twice.
    next_at_once_ = std::min(2 * count, catalog::max_projects_at_once);
    return std::span(read_).first(count);
}

}  // namespace wheelyard::indexer
