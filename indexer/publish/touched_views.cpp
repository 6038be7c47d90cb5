#include "indexer/publish/touched_views.hpp"

#include <algorithm>
#include <cstddef>

namespace wheelyard::indexer {
namespace {

// Read buffers are reused until their capacity exceeds this multiple of a read.
constexpr std::size_t max_buffer_factor = 4;

}  // namespace

TouchedViews::TouchedViews(const catalog::Catalog& catalog, const catalog::Inheritance& inheritance,
                           const TouchedProjects& touched, catalog::Serial up_to, KeptPages* kept)
    : catalog_(catalog), inheritance_(inheritance), up_to_(up_to), kept_(kept) {
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

bool TouchedViews::is_kept(std::size_t at) const {
    return kept_ != nullptr && at < order_.size() && kept_->has(order_[at]->first);
}

base::Result<std::span<ProjectRead>> TouchedViews::read_some(std::size_t max_rows) {
    // The last project of a read may be huge; its memory is not kept for the others.
    if (buffered_rows() > max_buffer_factor * max_rows) read_.clear();
    if (is_kept(next_)) {
        read_.resize(std::max<std::size_t>(read_.size(), 1));
        ProjectRead& project = read_.front();
        project.touched = order_[next_];
        project.is_shown = true;
        project.read_at = 0;
        WHEELYARD_TRY(kept_->read(catalog_, *project.touched, project.found));
        if (!project.found.is_whole()) {
            ++next_;
            return std::span(read_).first(1);
        }
    }
    std::size_t at_once = std::min({next_at_once_, max_rows, order_.size() - next_});
    if (at_once == 0) return std::span<ProjectRead>();
    for (std::size_t at = 1; at < at_once; ++at) {
        if (is_kept(next_ + at)) at_once = at;
    }
    if (read_.size() < at_once) read_.resize(at_once);
    std::vector<ProjectToRead> wanted;
    for (std::size_t at = 0; at < at_once; ++at) {
        read_[at].touched = order_[next_ + at];
        read_[at].found.kept = nullptr;
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
