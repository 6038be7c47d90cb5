#include "indexer/published_record.hpp"

#include "indexer/limits.hpp"
#include "indexer/paths.hpp"

namespace wheelyard::indexer {

base::Result<PublishedState> PublishedRecord::read() {
    const auto file = published_file(tree_);
    WHEELYARD_TRY(disk_.remove_leftovers(state_folder(tree_)));
    WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
    if (!size) return PublishedState{};
    WHEELYARD_ASSIGN(const auto text, disk_.read(file, max_state_bytes));
    WHEELYARD_ASSIGN(written_, parse_published_state(text));
    return written_;
}

base::Status PublishedRecord::write(const PublishedState& state) {
    if (says(state)) return {};
    WHEELYARD_TRY(disk_.replace(published_file(tree_), render_published_state(state)));
    written_ = state;
    return {};
}

}  // namespace wheelyard::indexer
