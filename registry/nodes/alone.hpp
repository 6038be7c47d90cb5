// The board and the lock of a database that only one `serve` can use.
#pragma once

#include "registry/nodes/node_board.hpp"

namespace wheelyard::nodes {

class AloneBoard final : public NodeBoard {
  public:
    [[nodiscard]] bool is_alone() const override { return true; }
    [[nodiscard]] base::Result<Renewed> renew(const NodeRow&, std::int64_t) override {
        return Renewed{.was_live = true};
    }
    [[nodiscard]] base::Status leave(const std::string&) override { return {}; }
    [[nodiscard]] base::Result<Serial> lowest_visible(const std::string&) override {
        return catalog::newest_of_all;
    }
    [[nodiscard]] base::Result<std::vector<SeenNode>> nodes() override { return std::vector<SeenNode>(); }
};

class AloneLock final : public WriterLock {
  public:
    [[nodiscard]] base::Result<Kept> take_or_keep() override {
        return Kept{.is_held = true, .is_for_good = true};
    }
    [[nodiscard]] base::Status note_waited() override { return {}; }
    [[nodiscard]] base::Status release() override { return {}; }
};

}  // namespace wheelyard::nodes
