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
    std::size_t count = 0;
    const auto read = [&]() -> base::Status {
        WHEELYARD_ASSIGN(const auto read_at, catalog_.last_serial());
        for (std::size_t rows = 0; next_ != order_.size() && rows < max_rows; ++next_, ++count) {
            if (count == read_.size()) read_.emplace_back();
            ProjectRead& project = read_[count];
            project.touched = order_[next_];
            const ProjectName& name = project.touched->first;
            project.read_at = read_at;
            WHEELYARD_ASSIGN(project.is_shown, read_project(catalog_, inheritance_, name.index, name.project,
                                                            project.found, up_to_));
            rows += 1;
            if (project.is_shown) rows += project.found.view.files.size() + project.found.hidden.size();
        }
        return {};
    };
    WHEELYARD_TRY(catalog_.in_one_snapshot(read));
    return std::span(read_).first(count);
}

}  // namespace wheelyard::indexer
